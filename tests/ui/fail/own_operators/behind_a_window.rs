#[path = "../../click.rs"]
mod click;
use click::*;

mod my_ops {
    pub struct Alert;
}

#[pipeline(clicks -> key_by(user) -> tumbling(10s, delay = 3s) -> my_ops::Alert -> sum(value))]
fn f(clicks: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() {}
