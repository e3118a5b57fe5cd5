#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> enrich(views, on = user, missing = port, delay = 3s, late = discard))]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> Stream<(Click, Click)>;

fn main() {}
