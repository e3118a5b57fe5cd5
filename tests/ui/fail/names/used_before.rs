#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let active = big -> filter(active);
    let big = clicks -> filter(|click| click.value > 10);
    active
})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
