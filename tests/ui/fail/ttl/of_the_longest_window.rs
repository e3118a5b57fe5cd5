#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let unique = clicks -> dedup(event_id, ttl = 15s) -> watermark(delay = 3s);
    (unique -> key_by(user) -> tumbling(10s, late = discard) -> sum(value), unique -> key_by(country) -> tumbling(1m, late = discard) -> sum(value))
})]
fn f(clicks: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Pane<String, i64>>);

fn main() {}
