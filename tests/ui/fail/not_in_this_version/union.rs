#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(union(a, b) -> filter(active))]
fn active(a: Stream<Click>, b: Stream<Click>) -> Stream<Click>;

fn main() {}
