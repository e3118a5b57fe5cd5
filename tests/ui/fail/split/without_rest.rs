#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let parts = clicks -> split { big: |click| click.value > 10, active: active };
    (parts.big, parts.active)
})]
fn f(clicks: Stream<Click>) -> (Stream<Click>, Stream<Click>);

fn main() {}
