//! Exactly-once effect from at-least-once delivery: a queue that sends again what was not acknowledged in time.
//!
//! `cargo run --example dedup`

use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Payment {
    id: u64,
    account: String,
    #[event(time, unit = "s")]
    at: i64,
    cents: i64,
}

/// Without `ttl`, ids are remembered just as long as a copy could still be counted: window size plus lateness.
#[pipeline(
    source -> dedup(id)
           -> key_by(account)
           -> tumbling(1m, delay = 10s, lateness = 2m)
           -> sum(cents)
)]
fn turnover(source: Stream<Payment>) -> (Stream<Pane<String, i64>>, Stream<Late<Payment>>);

fn run(name: &str, deliveries: &[Payment]) -> Result<(), Error> {
    let mut turnover = Pipeline::new(turnover);
    let (panes, _) = turnover.push_batch(deliveries.iter().cloned())?;
    let mut results: Vec<_> = panes.collect();
    let counters = turnover.counters();
    results.extend(turnover.finish()?.0);

    let (events, duplicates, late) = (counters.events_in(), counters.duplicates(), counters.late());
    println!("{name}: {events} events, {duplicates} duplicates, {late} late");
    for pane in results {
        println!("    {pane}");
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let payment = |id, at, cents| Payment { id, account: "rent".to_owned(), at, cents };
    let once = [payment(1, 5, 100), payment(2, 40, 250), payment(3, 75, 30), payment(4, 400, 1)];
    let [first, second, third, fourth] = &once;

    run("once", &once)?;
    // A copy is held back even after its window has fired. When the id is forgotten, the window is gone, and the copy late.
    let again = [first, second, first, third, second, first, fourth, first, fourth].map(Payment::clone);
    run("sent again", &again)
}
