#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> filter(active))]
fn active(source: Stream<Click>) -> Stream<Click>;

fn run(click: Click) {
    let mut pipeline = Pipeline::new(active);
    let _ = pipeline.finish();
    let _ = pipeline.push(click);
}

fn main() {}
