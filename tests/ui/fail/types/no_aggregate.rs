#[path = "../../click.rs"]
mod click;
use click::*;

struct Spread;

#[pipeline(source -> key_by(user) -> tumbling(10s, delay = 3s) -> aggregate(Spread))]
fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
