#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> key_by(device.idd) -> tumbling(10s, delay = 3s) -> sum(value))]
fn totals(source: Stream<Click>) -> (Stream<Pane<u32, i64>>, Stream<Late<Click>>);

fn main() {}
