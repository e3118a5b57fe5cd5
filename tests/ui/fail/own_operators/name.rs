#[path = "../../click.rs"]
mod click;
use click::*;

mod my_ops {
    pub struct Alert;
}

#[pipeline(clicks -> my_ops::Alert as "alerts")]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
