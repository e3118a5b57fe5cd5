#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let big = clicks -> filter(|click| click.value > 10);
    union(big, orders)
})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
