#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let timed = clicks -> watermark(delay = 3s);
    union(timed, views) -> key_by(user) -> tumbling(10s, late = discard) -> sum(value)
})]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> Stream<Pane<String, i64>>;

fn main() {}
