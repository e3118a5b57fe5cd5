#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> global(emit = every(1m), delay = 3s, lateness = 5s) -> sum(value))]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, i64>>;

fn main() {}
