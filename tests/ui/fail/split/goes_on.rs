#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> split { big: |click| click.value > 10, rest } -> filter(active))]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
