#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> tumbling(size, delay = 3s, late = discard) -> count())]
fn f(clicks: Stream<Click>, size: u64) -> Stream<Pane<String, u64>>;

fn main() {}
