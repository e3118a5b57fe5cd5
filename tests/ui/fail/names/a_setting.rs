#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let big = least -> filter(active);
    union(big, clicks)
})]
fn f(clicks: Stream<Click>, least: i64) -> Stream<Click>;

fn main() {}
