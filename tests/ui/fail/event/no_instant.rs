#[path = "../../click.rs"]
mod click;
use click::*;

#[derive(Clone, Serialize, Deserialize, Event)]
struct Order {
    #[event(time)]
    ts: String,
}

fn main() {}
