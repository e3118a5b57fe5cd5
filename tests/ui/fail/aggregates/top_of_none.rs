#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s) -> top(0, by = value))]
fn f(clicks: Stream<Click>) -> (Stream<Pane<String, Vec<Click>>>, Stream<Late<Click>>);

fn main() {}
