#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(union[clicks, views] -> filter(active))]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> Stream<Click>;

fn main() {}
