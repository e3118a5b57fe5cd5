#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let table = views -> watermark(delay = 3s);
    let e = clicks -> watermark(delay = 3s) -> enrich(on = user, missing = keep);
    (e, e.late, e.late_versions)
})]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> (Stream<(Click, Click)>, Stream<Late<Click>>, Stream<Late<Click>>);

fn main() {}
