#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s, emit = every(1s), late = discard) -> sum(value) -> key_by(key) -> tumbling(1m, late = discard) -> sum(value))]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, i64>>;

fn main() {}
