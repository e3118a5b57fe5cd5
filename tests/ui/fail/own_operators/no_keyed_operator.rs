#[path = "../../click.rs"]
mod click;
use click::*;

mod my_ops {
    pub struct Alert;
}

#[pipeline(clicks -> watermark(delay = 3s) -> key_by(user) -> my_ops::Alert)]
fn f(clicks: Stream<Click>) -> (Stream<Click>, Stream<Late<Click>>);

fn main() {}
