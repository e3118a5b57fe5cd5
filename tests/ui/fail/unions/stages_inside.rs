#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(union(clicks -> filter(active), views))]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> Stream<Click>;

fn main() {}
