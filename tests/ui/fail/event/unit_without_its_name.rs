#[path = "../../click.rs"]
mod click;
use click::*;

#[derive(Clone, Serialize, Deserialize, Event)]
struct Order {
    #[event(time, "ms")]
    ts: i64,
}

fn main() {}
