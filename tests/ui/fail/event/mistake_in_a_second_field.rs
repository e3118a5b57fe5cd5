#[path = "../../click.rs"]
mod click;
use click::*;

#[derive(Clone, Serialize, Deserialize, Event)]
struct Order {
    #[event(time, unit = "ms")]
    ts: i64,
    #[event(tme)]
    at: i64,
}

fn main() {}
