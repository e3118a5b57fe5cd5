#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let mut big = clicks -> filter(active);
    big
})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
