#[path = "../../click.rs"]
mod click;
use click::*;

#[derive(Clone, Serialize, Deserialize, Event)]
struct Order {
    #[event(tme, unit = ms)]
    ts: i64,
}

fn main() {}
