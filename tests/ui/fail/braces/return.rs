#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let big = clicks -> filter(active);
    return big
})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
