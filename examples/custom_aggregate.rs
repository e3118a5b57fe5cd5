//! An aggregate of one's own: the 80th percentile of response times.
//!
//! `cargo run --example custom_aggregate`

use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Response {
    path: String,
    #[event(time, unit = "s")]
    at: i64,
    millis: u32,
}

/// The smallest value that so many percent of all values do not exceed.
struct Percentile(usize);

impl Aggregate<Response> for Percentile {
    /// What a window keeps. The order of arrival does not matter, because `finish` sorts.
    type Acc = Vec<u32>;
    type Out = u32;

    fn create(&self) -> Vec<u32> {
        Vec::new()
    }

    fn add(&self, acc: &mut Vec<u32>, _at: Timestamp, response: &Response) {
        acc.push(response.millis);
    }

    fn merge(&self, acc: &mut Vec<u32>, other: Vec<u32>) {
        acc.extend(other);
    }

    /// The caller gets an error with the key and the window; all other results go on.
    fn finish(&self, acc: &Vec<u32>) -> Result<u32, AggregateError> {
        let mut sorted = acc.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * self.0).div_ceil(100);
        let value = sorted.get(rank.wrapping_sub(1)).copied();
        value.ok_or_else(|| AggregateError::new("a percentile is a number from 1 to 100"))
    }
}

#[pipeline(source -> key_by(path) -> tumbling(1m, delay = 5s) -> aggregate(Percentile(80)))]
fn slowest(source: Stream<Response>) -> (Stream<Pane<String, u32>>, Stream<Late<Response>>);

fn main() -> Result<(), Error> {
    let mut slowest = Pipeline::new(slowest);
    // One minute, which fires at the end. Of five responses, one slow one does not show in the percentile; two do.
    for (path, times) in [("/", [12, 15, 900, 14, 13]), ("/search", [5, 700, 6, 800, 4])] {
        let _ = slowest.push_batch(times.map(|millis| Response { path: path.to_owned(), at: 30, millis }))?;
    }
    for pane in slowest.finish()?.0 {
        println!("{pane} ms");
    }
    Ok(())
}
