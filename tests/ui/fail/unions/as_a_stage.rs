#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> union(views))]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> Stream<Click>;

fn main() {}
