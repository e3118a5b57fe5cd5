#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> enrich(users, on = user, missing = keep, delay = 3s))]
fn f(clicks: Stream<Click>, users: Stream<Click>) -> (Stream<(Click, Option<Click>)>, Stream<Late<Click>>);

fn main() {}
