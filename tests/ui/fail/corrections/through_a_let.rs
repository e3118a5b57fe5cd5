#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let sums = clicks -> key_by(user) -> tumbling(10s, delay = 3s, lateness = 5s, late = discard) -> sum(value);
    let big = sums -> filter(|pane| pane.value > 10);
    (big -> key_by(key) -> tumbling(1m, late = discard) -> sum(value), sums)
})]
fn f(clicks: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Pane<String, i64>>);

fn main() {}
