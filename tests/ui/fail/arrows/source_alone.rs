#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source)]
fn same(source: Stream<Click>) -> Stream<Click>;

fn main() {}
