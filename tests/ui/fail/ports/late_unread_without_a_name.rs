#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let big = clicks -> filter(active);
    big -> key_by(user) -> tumbling(10s, delay = 3s) -> sum(value)
})]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, i64>>;

fn main() {}
