#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline({
    let keyed = clicks -> key_by(user);
    union(keyed, views)
})]
fn f(clicks: Stream<Click>, views: Stream<Click>) -> Stream<Click>;

fn main() {}
