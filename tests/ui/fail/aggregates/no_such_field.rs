#[path = "../../click.rs"]
mod click;
use click::*;

#[derive(Clone, Serialize, Deserialize)]
pub struct Totals {
    total: i64,
    n: u64,
}

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s, late = discard) -> aggregate(total = sum(value), m = count()))]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, Totals>>;

fn main() {}
