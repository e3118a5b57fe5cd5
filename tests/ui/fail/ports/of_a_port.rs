#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let unique = clicks -> dedup(event_id, ttl = 1h) -> watermark(delay = 3s);
    (unique, unique.duplicates.late)
})]
fn f(clicks: Stream<Click>) -> (Stream<Click>, Stream<Click>);

fn main() {}
