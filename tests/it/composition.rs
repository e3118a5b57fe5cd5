//! Pipelines of several functions: streams that are closed by one and read by another, and side outputs that are read.

use std::sync::atomic::{AtomicUsize, Ordering};

use ministream::prelude::*;
use serde::{Deserialize, Serialize};

use crate::timeline::Click;

fn click(id: u64, seconds: i64, value: i64) -> Click {
    Click { id, user: "a".to_owned(), ts: seconds * 1_000_000, value }
}

/// Remembers ids for ten seconds; there is no watermark here.
fn unique(source: Stream<Click>) -> (Stream<Click>, Stream<Click>) {
    let (unique, copies) = source.dedup(|click| &click.id).ttl(secs(10)).with_duplicates();
    (unique.into_streams(), copies)
}

fn sums(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>) {
    let keyed = source.watermark(Bounded::new(secs(0))).key_by(|click| &click.user);
    keyed.window(Tumbling::new(secs(10))).sum(|click| click.value).into_streams()
}

/// The late events are read by a chain that is built before the one that they come from.
fn with_late_counts(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<i64>, Stream<Click>) {
    let (unique, copies) = unique(source);
    let keyed = unique.watermark(Bounded::new(secs(0))).key_by(|click| &click.user);
    let (windows, late) = keyed.window(Tumbling::new(secs(10))).with_late();
    let late_values = late.map(|late| late.event.value).into_streams();
    (windows.sum(|click| click.value).into_streams(), late_values, copies)
}

const CLICKS: [(u64, i64, i64); 7] =
    [(1, 1, 1), (2, 25, 2), (1, 1, 4), (2, 25, 8), (3, 36, 16), (2, 30, 32), (4, 3, 64)];

#[test]
fn a_dedup_in_front_of_another_functions_watermark_forgets_by_it_in_batches_too() {
    let build = |source| {
        let (unique, copies) = unique(source);
        let (panes, late) = sums(unique);
        (panes, late, copies)
    };
    let mut one_by_one = Pipeline::new(build);
    let (mut panes, mut late, mut copies) = (Vec::new(), Vec::new(), Vec::new());
    for (id, ts, value) in CLICKS {
        let outputs = one_by_one.push(click(id, ts, value)).unwrap();
        panes.extend(outputs.0.map(|pane| pane.to_string()));
        late.extend(outputs.1.map(|late| late.event.value));
        copies.extend(outputs.2.map(|copy| copy.value));
    }
    // The copy of 1 comes at 25s, when its id is forgotten, and is late; that of 2 at 36s, and is counted again.
    assert_eq!(panes, ["[00:00:00, 00:00:10) a = 1", "[00:00:20, 00:00:30) a = 2"]);
    assert_eq!(late, [4, 64]);
    assert_eq!(copies, [8]);

    let mut in_a_batch = Pipeline::new(build);
    let outputs = in_a_batch.push_batch(CLICKS.map(|(id, ts, value)| click(id, ts, value))).unwrap();
    assert_eq!(outputs.0.map(|pane| pane.to_string()).collect::<Vec<_>>(), panes);
    assert_eq!(outputs.1.map(|late| late.event.value).collect::<Vec<_>>(), late);
    assert_eq!(outputs.2.map(|copy| copy.value).collect::<Vec<_>>(), copies);
    assert_eq!(in_a_batch.counters(), one_by_one.counters());
}

#[test]
fn a_side_output_is_read_by_a_chain_like_any_stream() {
    let mut pipeline = Pipeline::new(with_late_counts);
    let mut late = Vec::new();
    for (id, ts, value) in CLICKS {
        let (_, late_values, _) = pipeline.push(click(id, ts, value)).unwrap();
        late.push(late_values.collect::<Vec<_>>());
    }
    assert_eq!(late, [vec![], vec![], vec![4], vec![], vec![], vec![], vec![64]]);
    insta::assert_snapshot!(pipeline.describe());
}

#[test]
fn results_that_are_pushed_bring_the_last_instant_of_their_window() {
    let mut sums = Pipeline::new(sums);
    let _ = sums.push(click(1, 59, 7)).unwrap();
    let (panes, _) = sums.finish().unwrap();
    assert_eq!(panes[0].timestamp(), Timestamp::from_micros(59_999_999));

    let per_minute = |panes: Stream<Pane<String, i64>>| {
        let keyed = panes.watermark(Bounded::new(secs(0))).key_by(|pane| &pane.key);
        keyed.window(Tumbling::new(minutes(1))).discard_late().max(|pane| pane.value).into_streams()
    };
    let mut per_minute = Pipeline::new(per_minute);
    let _ = per_minute.push_batch(panes).unwrap();
    assert_eq!(per_minute.finish().unwrap()[0].to_string(), "[00:00:00, 00:01:00) a = 7");
}

/// An event that counts how many of its kind are held.
#[derive(Debug, Serialize, Deserialize, Event)]
struct Held {
    #[event(time, unit = "s")]
    ts: i64,
}

static HELD: AtomicUsize = AtomicUsize::new(0);

impl Held {
    fn new(ts: i64) -> Self {
        HELD.fetch_add(1, Ordering::Relaxed);
        Held { ts }
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        Held::new(self.ts)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn nothing_is_kept_of_what_is_discarded() {
    let mut pipeline = Pipeline::new(|source: Stream<Held>| {
        let (unique, copies) = source.dedup(|held| &held.ts).ttl(minutes(1)).with_duplicates();
        copies.discard();
        let keyed = unique.watermark(Bounded::new(secs(0))).key_by_owned(|_| 0_u8);
        let (windows, late) = keyed.window(Tumbling::new(secs(10))).with_late();
        late.discard();
        windows.count().into_streams()
    });
    for ts in [100, 5, 6, 100, 100, 7] {
        let _ = pipeline.push(Held::new(ts)).unwrap();
    }
    assert_eq!((pipeline.counters().late(), pipeline.counters().duplicates()), (3, 2));
    assert_eq!(HELD.load(Ordering::Relaxed), 0);
}
