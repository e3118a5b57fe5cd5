#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(union() -> filter(active))]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
