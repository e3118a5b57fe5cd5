#[path = "../../click.rs"]
mod click;
use click::*;

struct Raw {
    value: i64,
}

#[pipeline(source -> map(|click| Raw { value: click.value }))]
fn raw(source: Stream<Click>) -> Stream<Raw>;

fn main() {}
