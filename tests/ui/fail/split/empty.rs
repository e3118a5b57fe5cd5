#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let parts = clicks -> split { };
    parts.rest
})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
