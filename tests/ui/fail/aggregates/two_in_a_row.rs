#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s, late = discard) -> sum(value) -> count())]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, i64>>;

fn main() {}
