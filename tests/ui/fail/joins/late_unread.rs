#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let timed = views -> watermark(delay = 3s);
    let j = clicks -> watermark(delay = 3s) -> join(timed, on = user, within = -5s..=10s);
    j
})]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> Stream<(Click, Click)>;

fn main() {}
