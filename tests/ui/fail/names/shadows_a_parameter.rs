#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let clicks = clicks -> filter(active);
    clicks
})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
