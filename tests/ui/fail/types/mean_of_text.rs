#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s, late = discard) -> mean(country))]
fn f(clicks: Stream<Click>) -> Stream<Pane<String, f64>>;

fn main() {}
