#[path = "../../click.rs"]
mod click;
use click::*;

#[derive(Clone, Serialize, Deserialize)]
struct Raw {
    value: i64,
}

#[pipeline(source -> filter(|raw| raw.value > 0))]
fn positive(source: Stream<Raw>) -> Stream<Raw>;

fn run() -> Pipeline<Raw, Stream<Raw>> {
    Pipeline::new(positive)
}

fn main() {}
