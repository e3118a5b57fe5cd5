#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s, late = discard) -> distinct(temperature))]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, u64>>;

fn main() {}
