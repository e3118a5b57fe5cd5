#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> filter(active) as clicks)]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
