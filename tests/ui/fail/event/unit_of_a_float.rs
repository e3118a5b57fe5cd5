#[path = "../../click.rs"]
mod click;
use click::*;

#[derive(Clone, Serialize, Deserialize, Event)]
struct Order {
    #[event(time, unit = "s")]
    ts: f64,
}

fn main() {}
