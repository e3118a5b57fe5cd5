#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let big = union(clicks, big);
    big
})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
