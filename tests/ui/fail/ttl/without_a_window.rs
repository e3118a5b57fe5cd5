#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> dedup(event_id) -> watermark(delay = 3s))]
fn unique(source: Stream<Click>) -> Stream<Click>;

fn main() {}
