#[path = "../../click.rs"]
mod click;
use click::*;

mod my_ops {
    pub struct Alert;
}

#[pipeline(clicks -> key_by(user) -> operator(my_ops::Alert))]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
