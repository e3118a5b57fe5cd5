#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let timed = clicks -> watermark(delay = 3s) -> filter(active);
    clicks -> join(timed -> filter(active), on = user, within = 0s..=10s, late = discard)
})]
fn f(clicks: Stream<Click>) -> Stream<(Click, Click)>;

fn main() {}
