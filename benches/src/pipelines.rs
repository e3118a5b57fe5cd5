//! The jobs as pipelines.

use std::time::Duration;

use ministream::prelude::*;

use crate::results::{Digest, Sink};
use crate::workload::{Click, User};

pub type Panes<U> = (Stream<Pane<U, i64>>, Stream<Late<Click<U>>>);

#[pipeline(source -> dedup(id, ttl = 10m) -> key_by(user) -> tumbling(10s, delay = delay, lateness = 5s) -> sum(value))]
pub fn a<U: User>(source: Stream<Click<U>>, delay: Duration) -> Panes<U>;

#[pipeline(source -> key_by(user) -> tumbling(10s, delay = delay, lateness = 5s) -> sum(value))]
pub fn b<U: User>(source: Stream<Click<U>>, delay: Duration) -> Panes<U>;

#[pipeline(source -> key_by(user) -> sliding(60s, every = 5s, delay = delay, lateness = 5s) -> sum(value))]
pub fn c<U: User>(source: Stream<Click<U>>, delay: Duration) -> Panes<U>;

#[pipeline(source -> key_by(user) -> session(30s, delay = delay, lateness = 5s) -> sum(value))]
pub fn d<U: User>(source: Stream<Click<U>>, delay: Duration) -> Panes<U>;

pub fn add<U: User>(digest: &mut Digest, pane: &Pane<U, i64>) {
    let [start, end] = [pane.window.start, pane.window.end].map(|at| at.as_millis());
    digest.result(start, end, &pane.key, pane.value, pane.is_update());
}

/// Kept whole, so that `callgrind.sh` counts what happens in it.
#[inline(never)]
pub fn run<U: User>(
    pipeline: impl FnOnce(Stream<Click<U>>) -> Panes<U>,
    clicks: &[Click<U>],
    batch: usize,
) -> Result<Digest, Error> {
    let mut pipeline = Pipeline::try_new(pipeline)?;
    let mut digest = Digest::default();
    let late = |digest: &mut Digest| Sink::<U>::late(digest);
    for chunk in clicks.chunks(batch) {
        let (panes, lates) = match chunk {
            [one] => pipeline.push(one.clone())?,
            chunk => pipeline.push_batch(chunk.iter().cloned())?,
        };
        panes.for_each(|pane| add(&mut digest, &pane));
        lates.for_each(|_| late(&mut digest));
    }
    let (panes, lates) = pipeline.finish()?;
    panes.iter().for_each(|pane| add(&mut digest, pane));
    lates.iter().for_each(|_| late(&mut digest));
    Ok(digest)
}
