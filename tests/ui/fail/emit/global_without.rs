#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> global(delay = 3s) -> sum(value))]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, i64>>;

fn main() {}
