//! What events cost, by counts that do not depend on the machine: allocations, and comparisons of keys.

use std::cell::Cell;
use std::hash::{Hash, Hasher};

use ministream::prelude::*;
use serde::{Deserialize, Serialize};

use crate::timeline::Click;

#[pipeline(source -> dedup(id) -> key_by(user) -> tumbling(10s, delay = 3s, lateness = 5s) -> sum(value))]
fn tumbling(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

#[pipeline(source -> key_by(user) -> sliding(10s, every = 2s, delay = 3s) -> sum(value))]
fn sliding(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

#[pipeline(source -> key_by(user) -> session(10s, delay = 3s) -> sum(value))]
fn session(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

type Totals = (Stream<Pane<String, i64>>, Stream<Late<Click>>);

/// Events of 100 users in one second of event time.
fn clicks(second: i64) -> Vec<Click> {
    let click = |number: i64| Click {
        id: u64::try_from(second * 1_000 + number).unwrap(),
        user: format!("user number {:03}", number % 100),
        ts: second * 1_000_000 + number,
        value: 1,
    };
    (0..1_000).map(click).collect()
}

/// How many allocations the events of a second take whose keys and windows are known.
fn allocations(pipeline: impl FnOnce(Stream<Click>) -> Totals, second: i64, in_batches: bool) -> u64 {
    let mut pipeline = Pipeline::new(pipeline);
    // Once over, so that no table has to grow any more.
    for known in [second - 10, second, second] {
        let (results, late) = pipeline.push_batch(clicks(known)).unwrap();
        assert_eq!(late.len(), 0);
        drop(results);
    }
    let mut events: Vec<_> =
        clicks(second).into_iter().map(|click| Click { id: click.id + 1_000_000, ..click }).collect();
    // Room in the log of ids is made ahead, a power of two at a time.
    events.truncate(900);
    let counted = allocation_counter::measure(|| {
        if in_batches {
            assert_eq!(pipeline.push_batch(events).unwrap().0.len(), 0);
        } else {
            for event in events {
                assert_eq!(pipeline.push(event).unwrap().0.len(), 0);
            }
        }
    });
    counted.count_total
}

#[test]
fn an_event_with_a_known_string_key_allocates_nothing() {
    for in_batches in [true, false] {
        assert_eq!(allocations(sliding, 100, in_batches), 0, "sliding, in batches: {in_batches}");
        assert_eq!(allocations(session, 100, in_batches), 0, "session, in batches: {in_batches}");
        let plain = |clicks: Stream<Click>| -> Totals {
            clicks
                .watermark(Bounded::new(secs(3)))
                .key_by(|click| &click.user)
                .window(Tumbling::new(secs(10)))
                .allowed_lateness(secs(5))
                .sum(|click| click.value)
                .into_streams()
        };
        assert_eq!(allocations(plain, 100, in_batches), 0, "tumbling, in batches: {in_batches}");
        // A new id is kept: it may make a log or an index grow, never once an event.
        let with_ids = allocations(tumbling, 100, in_batches);
        assert!(with_ids <= 4, "{with_ids} allocations for 900 new ids, in batches: {in_batches}");
    }
}

thread_local! {
    static COMPARISONS: Cell<u64> = const { Cell::new(0) };
}

/// A key or an id that counts how often it is compared.
#[derive(Clone, Copy, Debug, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Counted(u64);

impl PartialEq for Counted {
    fn eq(&self, other: &Counted) -> bool {
        COMPARISONS.set(COMPARISONS.get() + 1);
        self.0 == other.0
    }
}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Chosen {
    number: Counted,
    #[event(time, unit = "us")]
    ts: i64,
}

#[pipeline(source -> dedup(number, ttl = 1h) -> key_by(number) -> session(1h, delay = 0s) -> count())]
fn by_chosen(source: Stream<Chosen>) -> (Stream<Pane<Counted, u64>>, Stream<Late<Chosen>>);

/// Families of numbers that tables without a secret seed, or with too simple a hash, put into few places.
fn families() -> Vec<(&'static str, Box<dyn Fn(u64) -> u64>)> {
    vec![
        ("one after the other", Box::new(|n| n)),
        ("multiples of 2^16", Box::new(|n| n << 16)),
        ("multiples of 2^32", Box::new(|n| n << 32)),
        ("multiples of 2^48", Box::new(|n| n << 48)),
        ("both halves the same", Box::new(|n| n << 32 | n)),
        ("halves that cancel out", Box::new(|n| n << 32 | (!n & 0xffff_ffff))),
        ("multiples of an odd constant", Box::new(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15))),
        ("counting down", Box::new(|n| u64::MAX - n)),
    ]
}

#[test]
fn chosen_keys_and_ids_do_not_meet_in_the_tables() {
    const KEYS: u64 = 1 << 14;
    for (name, family) in families() {
        COMPARISONS.set(0);
        let mut pipeline = Pipeline::new(by_chosen);
        let mut late_events = 0;
        for n in 0..KEYS {
            let event = Chosen { number: Counted(family(n)), ts: i64::try_from(n).unwrap() };
            let (_, late) = pipeline.push_batch([event.clone(), event]).unwrap();
            late_events += late.len();
        }
        assert_eq!(late_events, 0);
        assert_eq!(pipeline.finish().unwrap().0.len(), usize::try_from(KEYS).unwrap(), "{name}");
        // Twice for each copy would do; in a table gone quadratic it were thousands.
        let comparisons = COMPARISONS.get();
        assert!(comparisons < 8 * KEYS, "{name}: {comparisons} comparisons for {KEYS} keys");
    }
}

#[test]
fn no_order_depends_on_the_seed_of_the_tables() {
    let run = || {
        let mut pipeline = Pipeline::new(tumbling);
        let mut text = String::new();
        for second in [100, 104, 109, 120, 101] {
            let (results, late) = pipeline.push_batch(clicks(second)).unwrap();
            results.for_each(|pane| text.push_str(&format!("{pane}\n")));
            late.for_each(|late| text.push_str(&format!("{late}\n")));
        }
        text
    };
    let first = run();
    assert_eq!(first.lines().count(), 1_100);
    // Each pipeline has seeds of its own.
    for _ in 0..4 {
        assert_eq!(run(), first);
    }
}
