#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let big = clicks -> filter(|click| click.value > 10);
    bgi -> filter(active)
})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
