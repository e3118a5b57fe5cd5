#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline((clicks -> filter(active), clicks -> filter(|click| click.value > 10)))]
fn f(clicks: Stream<Click>) -> (Stream<Click>, Stream<Click>);

fn main() {}
