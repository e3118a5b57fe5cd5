#[path = "../../click.rs"]
mod click;
use click::*;

pub struct Enrich;

#[pipeline(clicks -> Enrich)]
fn f(clicks: Stream<Click>) -> Stream<Click>;

fn main() {}
