#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s, late = discard) -> fold(0, |sum, click| click.user.clone(), merge = |a, b| a + b))]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, i64>>;

fn main() {}
