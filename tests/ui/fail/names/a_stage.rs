#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let unique = clicks -> dedup(event_id, ttl = 1h) as firsts -> filter(active);
    union(unique, firsts)
})]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
