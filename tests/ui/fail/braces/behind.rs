#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({ clicks -> filter(active) } -> map(value))]
fn f(clicks: Stream<Click>) -> Stream<i64>;

fn main() {}
