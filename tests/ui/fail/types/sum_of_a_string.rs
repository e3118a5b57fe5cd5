#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> key_by(user) -> tumbling(10s, delay = 3s) -> sum(country))]
fn totals(source: Stream<Click>) -> (Stream<Pane<String, String>>, Stream<Late<Click>>);

fn main() {}
