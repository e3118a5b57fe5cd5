#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let timed = views -> watermark(delay = 3s);
    let sums = clicks -> key_by(user) -> tumbling(10s, delay = 3s, lateness = 5s, late = discard) -> sum(value);
    sums -> join(timed, on = key, right_on = user, within = 0s..=10s, late = discard)
})]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> Stream<(Pane<String, i64>, Click)>;

fn main() {}
