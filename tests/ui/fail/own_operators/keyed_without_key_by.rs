#[path = "../../click.rs"]
mod click;
use click::*;

mod my_ops {
    pub struct Alert;
}

#[pipeline(clicks -> process(my_ops::Alert))]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
