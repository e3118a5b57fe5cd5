#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
