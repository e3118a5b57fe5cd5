#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let keyed = clicks -> key_by(user);
    keyed -> tumbling(10s, late = discard) -> sum(value)
})]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, i64>>;

fn main() {}
