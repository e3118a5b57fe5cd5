#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> key_by(user) -> sliding(10, every = 5sec, latness = 5s) -> sum(value))]
async fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
