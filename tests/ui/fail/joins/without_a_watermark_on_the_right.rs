#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let timed = views -> filter(active);
    let j = clicks -> watermark(delay = 3s) -> join(timed, on = user, within = -5s..=10s);
    (j, j.late_left, j.late_right)
})]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> (Stream<(Click, Click)>, Stream<Late<Click>>, Stream<Late<Click>>);

fn main() {}
