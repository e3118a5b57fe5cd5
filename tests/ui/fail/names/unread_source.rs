#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let big = clicks -> filter(|click| click.value > 10);
    big
})]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> Stream<Click>;

fn main() {}
