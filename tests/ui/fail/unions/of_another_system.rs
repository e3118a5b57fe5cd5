#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(merge(clicks, views) -> filter(active))]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> Stream<Click>;

fn main() {}
