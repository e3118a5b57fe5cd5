#[path = "../../click.rs"]
mod click;
use click::*;

mod my_ops {
    pub struct Alert;
}

#[pipeline(clicks -> key_by(user) -> process(my_ops::Alert, late = discard))]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
