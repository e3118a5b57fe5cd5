#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> key_by(user) -> tumbling(10s, delay = 3s) -> collect())]
fn clicks(source: Stream<Click>) -> (Stream<Pane<String, Vec<Click>>>, Stream<Late<Click>>);

fn main() {}
