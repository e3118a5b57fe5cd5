#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s) -> quantile(value, 1.5))]
fn f(clicks: Stream<Click>) -> (Stream<Pane<String, f64>>, Stream<Late<Click>>);

fn main() {}
