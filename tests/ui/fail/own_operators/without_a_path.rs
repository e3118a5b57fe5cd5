#[path = "../../click.rs"]
mod click;
use click::*;

struct Alert;

#[pipeline(clicks -> Alert)]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
