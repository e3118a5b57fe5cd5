#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> distinct(event_id))]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
