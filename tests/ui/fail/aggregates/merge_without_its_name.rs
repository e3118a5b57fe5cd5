#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s) -> fold(0, |sum, click| sum + click.value, |a, b| a + b))]
fn f(clicks: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
