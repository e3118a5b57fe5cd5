#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> my_ops::Enrich::new(3))]
fn active(source: Stream<Click>) -> Stream<Click>;

fn main() {}
