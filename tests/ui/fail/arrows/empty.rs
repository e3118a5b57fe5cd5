#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline()]
fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
