#[path = "../../click.rs"]
mod click;
use click::*;

#[derive(Clone, Serialize, Deserialize)]
pub struct Totals {
    n: i64,
}

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s, late = discard) -> aggregate(n = sum(value), n = count()))]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, Totals>>;

fn main() {}
