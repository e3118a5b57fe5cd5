#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let big = clicks -> filter(active) as all;
    let all = big -> filter(active);
    all
})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
