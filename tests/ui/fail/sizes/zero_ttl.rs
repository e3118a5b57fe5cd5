#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> dedup(event_id, ttl = 0s) -> key_by(user) -> tumbling(10s, delay = 3s) -> sum(value))]
fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
