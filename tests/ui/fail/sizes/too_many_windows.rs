#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> key_by(user) -> sliding(1d, every = 1ms, delay = 3s) -> sum(value))]
fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
