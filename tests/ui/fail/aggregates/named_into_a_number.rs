#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s) -> aggregate(total = sum(value), n = count()))]
fn f(clicks: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
