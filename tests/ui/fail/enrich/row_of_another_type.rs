#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> enrich(users, on = user, missing = discard, delay = 3s, late = discard))]
fn f(clicks: Stream<Click>, users: Stream<Click>) -> Stream<(Click, Device)>;

fn main() {}
