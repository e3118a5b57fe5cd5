#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let (big, small) = clicks -> split { big: |click| click.value > 10, rest };
    (big, small)
})]
fn f(clicks: Stream<Click>) -> (Stream<Click>, Stream<Click>);

fn main() {}
