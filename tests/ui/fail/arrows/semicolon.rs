#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> filter(active);)]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
