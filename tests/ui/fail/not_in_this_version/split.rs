#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> split { vip: |click| click.value > 10, rest })]
fn active(source: Stream<Click>) -> Stream<Click>;

fn main() {}
