#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let parts = clicks -> split { big => active, rest };
    (parts.big, parts.rest)
})]
fn f(clicks: Stream<Click>) -> (Stream<Click>, Stream<Click>);

fn main() {}
