#[path = "../../click.rs"]
mod click;
use click::*;

type Totals = Stream<Pane<String, i64>>;

#[pipeline(source -> dedup(event_id) -> key_by(user) -> tumbling(10s, delay = 3s) -> sum(value))]
fn totals(source: Stream<Click>) -> Totals;

fn main() {}
