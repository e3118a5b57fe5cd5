#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(size -> key_by(user) -> tumbling(10s, delay = 3s) -> sum(value))]
fn totals(source: Stream<Click>, size: u64) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
