#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> watermark(upstream, delay = 3s) -> key_by(user) -> tumbling(10s) -> sum(value))]
fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
