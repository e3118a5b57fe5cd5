#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({ let ok = source -> filter(active); ok })]
fn active(source: Stream<Click>) -> Stream<Click>;

fn main() {}
