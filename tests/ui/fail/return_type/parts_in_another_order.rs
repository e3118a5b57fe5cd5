#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let w = clicks -> key_by(user) -> tumbling(10s, delay = 3s);
    (w.late, w -> sum(value))
})]
fn f(clicks: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
