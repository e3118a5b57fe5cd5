#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> dedup(event_id, 3s) -> filter(active))]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
