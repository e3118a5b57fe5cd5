#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let big = clicks -> filter(active);
    big -> filter(|click| click.value > 10);
})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
