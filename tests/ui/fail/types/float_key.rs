#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> key_by(temperature) -> tumbling(10s, delay = 3s) -> sum(value))]
fn totals(source: Stream<Click>) -> (Stream<Pane<f64, i64>>, Stream<Late<Click>>);

fn main() {}
