#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let totals = clicks -> key_by(user) -> tumbling(10s, delay = 3s) as ten -> sum(value);
    (totals, tem.late)
})]
fn f(clicks: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
