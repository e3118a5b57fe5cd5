#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let a = clicks -> key_by(user) -> tumbling(10s, delay = 3s, lateness = 5s, late = discard) -> sum(value);
    let b = views -> key_by(user) -> tumbling(10s, delay = 3s, late = discard) -> sum(value);
    union(a, b) -> key_by(key) -> session(1m, late = discard) -> sum(value)
})]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> Stream<Pane<String, i64>>;

fn main() {}
