#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> key_by(user) -> sliding(10s, slide = 5s, every = 5s, delay = 3s, grace = 5s) -> sum(value))]
fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
