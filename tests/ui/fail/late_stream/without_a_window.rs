#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> filter(active))]
fn active(source: Stream<Click>) -> (Stream<Click>, Stream<Late<Click>>);

fn main() {}
