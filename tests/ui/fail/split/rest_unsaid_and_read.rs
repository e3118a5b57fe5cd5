#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let parts = clicks -> split { big: |click| click.value > 10 };
    (parts.big, parts.rest)
})]
fn f(clicks: Stream<Click>) -> (Stream<Click>, Stream<Click>);

fn main() {}
