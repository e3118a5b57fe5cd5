#[path = "../../click.rs"]
mod click;
use click::*;

#[derive(Clone, Serialize, Deserialize, Event)]
enum Order {
    New(i64),
}

fn main() {}
