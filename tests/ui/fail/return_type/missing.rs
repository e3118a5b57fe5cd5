#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> key_by(user) -> tumbling(10s, delay = 3s) -> sum(value))]
fn totals(source: Stream<Click>);

fn main() {}
