#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s, late = discard) -> top(3, value))]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, Vec<Click>>>;

fn main() {}
