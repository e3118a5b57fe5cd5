//! Four jobs, each as a pipeline and as the loop that one would write with the standard library, run in turns on the same
//! events. `cargo run --release --manifest-path benches/Cargo.toml -- [EVENTS] [JOB] [CONTENDER]`
//!
//! Prints CPU nanoseconds an event, the median of the rounds, and the ratio to the plain loop. All contenders of a job have
//! to give the same results in the same order, else the program fails.

mod plain;
mod workload;

use cpu_time::ProcessTime;
use ministream::prelude::*;

use crate::workload::{Click, clicks};

type Panes = (Stream<Pane<u64, i64>>, Stream<Late<Click>>);

#[pipeline(
    source -> dedup(id, ttl = 10m) -> key_by(user) -> tumbling(10s, delay = 3s, lateness = 5s) -> sum(value)
)]
fn a(source: Stream<Click>) -> Panes;

#[pipeline(source -> key_by(user) -> tumbling(10s, delay = 3s, lateness = 5s) -> sum(value))]
fn b(source: Stream<Click>) -> Panes;

#[pipeline(source -> key_by(user) -> sliding(60s, every = 5s, delay = 3s, lateness = 5s) -> sum(value))]
fn c(source: Stream<Click>) -> Panes;

#[pipeline(source -> key_by(user) -> session(30s, delay = 3s, lateness = 5s) -> sum(value))]
fn d(source: Stream<Click>) -> Panes;

/// What the results come to: depends on each of them and on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    results: u64,
    hash: u64,
}

impl Digest {
    pub fn add(&mut self, start: i64, end: i64, key: u64, value: i64) {
        self.results += 1;
        for part in [start as u64, end as u64, key, value as u64] {
            self.hash = (self.hash.rotate_left(5) ^ part).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }

    fn add_pane(&mut self, pane: &Pane<u64, i64>) {
        let [start, end] = [pane.window.start, pane.window.end].map(|at| at.as_millis());
        self.add(start, end, pane.key, pane.value);
    }
}

fn run(f: fn(Stream<Click>) -> Panes, clicks: &[Click], batch: usize) -> Result<Digest, Error> {
    let mut pipeline = Pipeline::try_new(f)?;
    let mut digest = Digest::default();
    for chunk in clicks.chunks(batch) {
        let (panes, _) = match chunk {
            [one] => pipeline.push(one.clone())?,
            chunk => pipeline.push_batch(chunk.iter().cloned())?,
        };
        panes.for_each(|pane| digest.add_pane(&pane));
    }
    let (panes, late) = pipeline.finish()?;
    panes.iter().for_each(|pane| digest.add_pane(pane));
    assert_eq!(late.len(), 0, "no event of the workload is late");
    Ok(digest)
}

struct Contender<'a> {
    name: &'static str,
    run: Box<dyn Fn() -> Digest + 'a>,
    nanos: Vec<f64>,
}

fn main() {
    const ROUNDS: usize = 5;
    let mut args = std::env::args().skip(1);
    let events: usize = args.next().map_or(1_000_000, |events| events.parse().expect("a number of events"));
    let only = args.next();
    let only_contender = args.next();
    let clicks = clicks(events);
    println!("{} events with copies, {ROUNDS} rounds, CPU ns an event (median)", clicks.len());
    println!("{:<4} {:<24} {:>8} {:>8}", "job", "contender", "ns", "ratio");
    type Job = (&'static str, fn(Stream<Click>) -> Panes, fn(&[Click]) -> Digest);
    let jobs: [Job; 4] = [
        ("A", a, |clicks| plain::tumbling(clicks, true)),
        ("B", b, |clicks| plain::tumbling(clicks, false)),
        ("C", c, plain::sliding),
        ("D", d, plain::sessions),
    ];
    for (job, pipeline, plain) in jobs {
        if only.as_ref().is_some_and(|only| only != job) {
            continue;
        }
        let clicks = &clicks;
        let batched = move |batch| move || run(pipeline, clicks, batch).expect("the pipeline runs");
        let mut contenders = [
            Contender { name: "plain loop (std)", run: Box::new(move || plain(clicks)), nanos: Vec::new() },
            Contender { name: "ministream, batches", run: Box::new(batched(256)), nanos: Vec::new() },
            Contender { name: "ministream, one by one", run: Box::new(batched(1)), nanos: Vec::new() },
        ];
        let mut digest = None;
        for _ in 0..ROUNDS {
            for contender in contenders.iter_mut().filter(|c| only_contender.as_ref().is_none_or(|o| c.name.contains(&**o))) {
                let start = ProcessTime::now();
                let found = (contender.run)();
                contender.nanos.push(start.elapsed().as_nanos() as f64 / clicks.len() as f64);
                let expected = *digest.get_or_insert(found);
                assert_eq!(found, expected, "{job}: {} gives other results", contender.name);
            }
        }
        let medians = contenders.map(|mut contender| {
            contender.nanos.sort_by(f64::total_cmp);
            (contender.name, contender.nanos.get(ROUNDS / 2).copied().unwrap_or(0.0))
        });
        let [(_, plain), ..] = medians;
        for (name, nanos) in medians {
            println!("{job:<4} {name:<24} {nanos:>8.1} {:>8.2}", nanos / plain);
        }
    }
}
