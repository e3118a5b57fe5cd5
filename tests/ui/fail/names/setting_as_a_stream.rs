#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let least = clicks -> filter(active);
    least
})]
fn f(clicks: Stream<Click>, least: i64) -> Stream<Click>;

fn main() {}
