#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let w = clicks -> key_by(user) -> tumbling(10s, delay = 3s);
    w.late
})]
fn f(clicks: Stream<Click>) -> Stream<Late<Click>>;

fn main() {}
