#[path = "../../click.rs"]
mod click;
use click::*;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Totals {
    pub total: i64,
    pub n: u64,
}

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s, late = discard) -> aggregate(total = sum(value)))]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, Totals>>;

fn main() {}
