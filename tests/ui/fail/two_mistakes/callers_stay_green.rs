#[path = "../../click.rs"]
mod click;
use click::*;

#[pipeline(source -> key_by(user) -> tumblng(10s, delay = 3s) -> sum(value))]
fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn run(click: Click) -> Result<(), Error> {
    let mut totals = Pipeline::new(totals);
    let (panes, late) = totals.push(click)?;
    println!("{} {}", panes.len(), late.len());
    Ok(())
}

fn main() {}
