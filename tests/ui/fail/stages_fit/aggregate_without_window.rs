#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> sum(value))]
fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
