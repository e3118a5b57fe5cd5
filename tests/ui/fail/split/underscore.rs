#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let parts = clicks -> split { big: |click| click.value > 10, _ };
    parts.big
})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
