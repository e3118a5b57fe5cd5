#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> key_by(user) -> tumbling(1.5s, delay = 3s) -> sum(value))]
fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
