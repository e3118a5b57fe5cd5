#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> join(views -> filter(active), on = user, within = -5s..=10s, delay = 3s, late = discard))]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> Stream<(Click, Click)>;

fn main() {}
