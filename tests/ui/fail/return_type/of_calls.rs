#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s, late = discard) -> sum(value))]
fn f(clicks: Stream<Click>) -> (sum(value), count());

fn main() {}
