#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(clicks -> join(views, on = user, within = -5s..=10s))]
fn f(clicks: Stream<Pane<String, i64>>, views: Stream<Pane<String, i64>>) -> Stream<(Pane<String, i64>, Pane<String, i64>)>;

fn main() {}
