#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let timed = clicks -> watermark(delay = 3s);
    timed -> key_by(user) -> tumbling(10s, delay = 3s, late = discard) -> sum(value)
})]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, i64>>;

fn main() {}
