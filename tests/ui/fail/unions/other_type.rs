#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let values = clicks -> map(value);
    union(clicks, values)
})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
