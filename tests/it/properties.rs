//! Properties that hold for any events, in any order of delivery: against the model, and of the runtime alone.

use std::collections::BTreeMap;

use ministream::Counters;
use ministream::prelude::*;
use ministream::window::WindowKind;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::model::{self, Kind, Model, Row, Settings, Step};

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Item {
    id: u64,
    key: u8,
    #[event(time, unit = "us")]
    ts: i64,
    value: i64,
}

type Sums = (Stream<Pane<u8, i64>>, Stream<Late<Item>>, Stream<Item>, Stream<Item>);

fn ticks(count: i64) -> std::time::Duration {
    micros(u64::try_from(count).unwrap())
}

fn sums(source: Stream<Item>, settings: Settings, windows: impl WindowKind) -> Sums {
    let ttl = settings.ttl.map_or(micros(1), ticks);
    let counts_ids = settings.ttl.is_some();
    let unique = source.dedup_owned(move |item| (counts_ids, if counts_ids { item.id } else { item.value as u64 }));
    let unique = if counts_ids { unique.ttl(ttl) } else { unique.ttl(std::time::Duration::MAX) };
    let (unique, copies) = unique.with_duplicates();
    let (unique, rejected) = unique.watermark(Bounded::new(ticks(settings.delay))).with_rejected();
    let (panes, late) = unique
        .key_by(|item| &item.key)
        .window(windows)
        .allowed_lateness(ticks(settings.lateness))
        .sum(|item| item.value)
        .into_streams();
    (panes, late, copies, rejected)
}

fn pipeline(settings: Settings) -> Pipeline<Item, Sums> {
    Pipeline::try_new(|source| match settings.kind {
        Kind::Aligned { size, every, offset } if size == every => {
            sums(source, settings, Tumbling::new(ticks(size)).offset(ticks(offset)))
        }
        Kind::Aligned { size, every, offset } => {
            sums(source, settings, Sliding::new(ticks(size), ticks(every)).offset(ticks(offset)))
        }
        Kind::Session { gap } => sums(source, settings, Session::new(ticks(gap))),
    })
    .unwrap()
}

fn item((id, key, ts, value): Row) -> Item {
    Item { id, key, ts, value }
}

fn result(pane: Pane<u8, i64>) -> model::Result {
    let bounds = |window: &Window| (window.start.as_micros(), window.end.as_micros());
    let replaces = pane.replaces().iter().map(bounds).collect();
    model::Result {
        key: pane.key,
        window: bounds(&pane.window),
        sum: pane.value,
        is_update: pane.is_update(),
        replaces,
    }
}

/// All that a run brought about.
#[derive(Clone, Debug, Default)]
struct Got {
    steps: Vec<Step>,
    end: Vec<model::Result>,
    rejected: usize,
    counters: Counters,
}

impl Got {
    fn results(&self) -> Vec<&model::Result> {
        self.steps.iter().flat_map(|step| &step.results).chain(&self.end).collect()
    }

    fn late(&self) -> usize {
        self.steps.iter().filter(|step| step.late).count()
    }

    fn duplicates(&self) -> usize {
        self.steps.iter().filter(|step| step.duplicate).count()
    }

    /// The last value of each window, when results take the place of those that they replace.
    fn last(&self) -> BTreeMap<(u8, (i64, i64)), i64> {
        let mut last = BTreeMap::new();
        for result in self.results() {
            for replaced in &result.replaces {
                last.remove(&(result.key, *replaced));
            }
            last.insert((result.key, result.window), result.sum);
        }
        last
    }
}

fn run(settings: Settings, rows: &[Row]) -> Got {
    let mut pipeline = pipeline(settings);
    let mut got = Got::default();
    for &row in rows {
        let (panes, late, copies, rejected) = pipeline.push(item(row)).unwrap();
        got.rejected += rejected.len();
        let (late, duplicate) = (late.len() == 1, copies.len() == 1);
        got.steps.push(Step { results: panes.map(result).collect(), late, duplicate });
    }
    got.counters = pipeline.counters();
    got.end = pipeline.finish().unwrap().0.into_iter().map(result).collect();
    got
}

/// Rows of small numbers, so that boundaries are met; values are powers of two or so, so that sums tell who is in.
fn rows(times: std::ops::Range<i64>) -> impl Strategy<Value = Vec<Row>> {
    let row = (0..12_u64, 0..3_u8, times);
    prop::collection::vec(row, 0..40).prop_map(|rows| {
        let number = |(place, (id, key, ts))| (id, key, ts, 1_i64 << place);
        rows.into_iter().enumerate().map(number).collect()
    })
}

/// As `rows`, each with an id of its own.
fn distinct_rows(times: std::ops::Range<i64>) -> impl Strategy<Value = Vec<Row>> {
    rows(times).prop_map(|rows| (0..).zip(rows).map(|(id, (_, key, ts, value))| (id, key, ts, value)).collect())
}

fn kinds() -> impl Strategy<Value = Kind> {
    let aligned = (1..12_i64, 1..12_i64, 0..30_i64);
    prop_oneof![
        aligned.clone().prop_map(|(size, _, offset)| Kind::Aligned { size, every: size, offset }),
        aligned.prop_map(|(a, b, offset)| Kind::Aligned { size: a.max(b), every: a.min(b), offset }),
        (1..8_i64).prop_map(|gap| Kind::Session { gap }),
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    (kinds(), 0..8_i64, 0..10_i64, prop::option::of(1..20_i64)).prop_map(|(kind, delay, lateness, ttl)| {
        // A ttl below what the windows need is refused.
        let ttl = ttl.map(|ttl| match kind {
            Kind::Aligned { size, .. } => ttl.max(size + lateness),
            Kind::Session { .. } => ttl,
        });
        Settings { kind, delay, lateness, ttl }
    })
}

/// The rows in another order, in which none lies more than `bound` behind the largest time in front of it: each is held
/// back for up to `bound` units of event time.
fn shuffled(rows: &[Row], bound: i64, holds: &[u8]) -> Vec<Row> {
    let held = |(place, row): (usize, &Row)| (row.2 + i64::from(holds[place % holds.len()]) % (bound + 1), place);
    let mut order: Vec<_> = rows.iter().enumerate().map(held).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, place)| rows[place]).collect()
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(config(1_500))]

    /// Event by event: the same results in the same order, the same events late, the same duplicates.
    #[test]
    fn the_runtime_does_what_the_model_does(settings in settings(), rows in rows(-30..60)) {
        let got = run(settings, &rows);
        let mut model = Model::new(settings);
        for (place, &row) in rows.iter().enumerate() {
            prop_assert_eq!(&got.steps[place], &model.push(row), "event {}", place);
        }
        prop_assert_eq!(got.end, model.finish());
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn within_the_delay_order_changes_nothing(
        settings in settings(),
        rows in distinct_rows(-30..60),
        holds in prop::collection::vec(any::<u8>(), 1..40),
        other_holds in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let one = run(settings, &shuffled(&rows, settings.delay, &holds));
        let other = run(settings, &shuffled(&rows, settings.delay, &other_holds));
        prop_assert_eq!(one.results(), other.results());
        prop_assert_eq!((one.late(), other.late()), (0, 0));
        prop_assert!(one.results().iter().all(|result| !result.is_update));
    }

    #[test]
    fn within_delay_and_lateness_the_last_values_are_the_same(
        settings in settings(),
        rows in distinct_rows(-30..60),
        holds in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let in_order = run(settings, &shuffled(&rows, 0, &[0]));
        let other = run(settings, &shuffled(&rows, settings.delay + settings.lateness, &holds));
        prop_assert_eq!(other.late(), 0);
        prop_assert_eq!(in_order.last(), other.last());
    }

    /// Each event is counted, late, a duplicate or rejected: exactly one of them.
    #[test]
    fn no_event_is_lost(settings in settings(), rows in rows(-30..60)) {
        let got = run(settings, &rows);
        let (late, duplicates) = (got.late(), got.duplicates());
        prop_assert!(got.steps.iter().all(|step| !(step.late && step.duplicate)));
        prop_assert_eq!(got.counters.late(), late as u64);
        prop_assert_eq!(got.counters.duplicates(), duplicates as u64);
        prop_assert_eq!(got.counters.rejected(), 0);
        prop_assert_eq!(got.counters.events_in(), rows.len() as u64);
        // Values are different powers of two: the bits of the sums tell which events are counted, and how often.
        let counted = rows.iter().zip(&got.steps).filter(|(_, step)| !step.late && !step.duplicate);
        let expected = counted.fold(0, |bits, ((_, _, _, value), _)| bits | value);
        prop_assert_eq!(got.last().values().fold(0, |bits, sum| bits | sum), expected);
        if !matches!(settings.kind, Kind::Aligned { size, every, .. } if size != every) {
            prop_assert_eq!(got.last().values().sum::<i64>(), expected);
        }
    }

    /// Copies anywhere within the ttl change nothing but the count of duplicates.
    #[test]
    fn copies_change_nothing(
        settings in settings(),
        rows in distinct_rows(-30..60),
        holds in prop::collection::vec(any::<u8>(), 1..40),
        copies in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..10),
    ) {
        prop_assume!(!rows.is_empty());
        let settings = Settings { ttl: Some(1_000), ..settings };
        let rows = shuffled(&rows, settings.delay + settings.lateness + 3, &holds);
        let once = run(settings, &rows);
        let mut with_copies = rows.clone();
        for (of, behind) in &copies {
            let copied = *of.get(&rows);
            let first = with_copies.iter().position(|row| row.0 == copied.0).unwrap();
            let place = first + 1 + behind.index(with_copies.len() - first);
            with_copies.insert(place, copied);
        }
        let twice = run(settings, &with_copies);
        prop_assert_eq!(once.results(), twice.results());
        prop_assert_eq!(once.late(), twice.late());
        prop_assert_eq!(twice.duplicates(), copies.len());
    }

    #[test]
    fn batches_change_nothing(settings in settings(), rows in rows(-30..60), sizes in prop::collection::vec(1..9_usize, 1..9)) {
        let one_by_one = run(settings, &rows);
        let mut pipeline = pipeline(settings);
        let (mut results, mut late, mut rest) = (Vec::new(), 0, rows.as_slice());
        for size in sizes.iter().cycle() {
            let (batch, behind) = rest.split_at(rest.len().min(*size));
            let (panes, late_events, _copies, _rejected) = pipeline.push_batch(batch.iter().map(|&row| item(row))).unwrap();
            results.extend(panes.map(result));
            late += late_events.len();
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        results.extend(pipeline.finish().unwrap().0.into_iter().map(result));
        prop_assert_eq!(results.iter().collect::<Vec<_>>(), one_by_one.results());
        prop_assert_eq!(late, one_by_one.late());
    }

    /// When the watermark is past everything, nothing is kept.
    #[test]
    fn state_is_given_back(settings in settings(), rows in rows(-30..60)) {
        let mut pipeline = pipeline(settings);
        for &row in &rows {
            let _ = pipeline.push(item(row)).unwrap();
        }
        let _ = pipeline.advance_to(Timestamp::from_micros(1_000)).unwrap();
        let counters = pipeline.counters();
        prop_assert_eq!(counters.open_windows(), 0);
        if settings.ttl.is_some() {
            prop_assert_eq!(counters.ids(), 0);
        }
    }

    /// Moving the watermark early makes events late, and changes nothing that has fired.
    #[test]
    fn advancing_early_only_makes_events_late(settings in settings(), rows in distinct_rows(-30..60), to in -30..60_i64) {
        let plain = run(settings, &rows);
        let mut advanced = pipeline(settings);
        let mut results: Vec<_> =
            advanced.advance_to(Timestamp::from_micros(to)).unwrap().0.map(result).collect();
        prop_assert!(results.is_empty());
        let mut late = 0;
        for &row in &rows {
            let (panes, late_events, _copies, _rejected) = advanced.push(item(row)).unwrap();
            late += late_events.len();
            results.extend(panes.map(result));
        }
        results.extend(advanced.finish().unwrap().0.into_iter().map(result));
        prop_assert!(plain.late() <= late);
        // Values are different powers of two: no event is counted that was not counted before.
        let bits = |results: &mut dyn Iterator<Item = &model::Result>| results.fold(0, |bits, result| bits | result.sum);
        let (before, after) = (bits(&mut plain.results().into_iter()), bits(&mut results.iter()));
        prop_assert_eq!(after & !before, 0);
    }

    /// Times over the whole range neither panic nor lose an event.
    #[test]
    fn any_times_are_accounted_for(
        kind in kinds(),
        times in prop::collection::vec(prop_oneof![
            any::<i64>(), i64::MIN..i64::MIN + 30, i64::MAX - 30..=i64::MAX, -30..30_i64,
        ], 0..30),
        delay in prop_oneof![0..10_i64, Just(i64::MAX)],
        lateness in prop_oneof![0..10_i64, Just(i64::MAX)],
    ) {
        let settings = Settings { kind, delay, lateness, ttl: Some(i64::MAX) };
        let rows: Vec<Row> = (0..).zip(&times).map(|(id, &ts)| (id, 0, ts, 1)).collect();
        let got = run(settings, &rows);
        let counters = &got.counters;
        let counted: i64 = match kind {
            Kind::Aligned { size, every, .. } if size != every => return Ok(()),
            _ => got.last().values().sum(),
        };
        prop_assert_eq!(counted as u64 + counters.late() + counters.rejected(), rows.len() as u64);
        prop_assert_eq!(got.rejected as u64, counters.rejected());
    }
}

/// The same property for keys of other types: results come in the order of the key.
fn counts<K: ministream::Key>(keys: &[K]) -> Vec<(K, u64)> {
    let source = keys.iter().cloned().zip(0..).collect::<Vec<_>>();
    let build = |source: Stream<Keyed<K>>| {
        let keyed = source.watermark(Bounded::new(secs(0))).key_by(|keyed| &keyed.key);
        keyed.window(Tumbling::new(secs(1))).discard_late().count().into_streams()
    };
    let mut pipeline = Pipeline::new(build);
    let panes = pipeline.push_batch(source.into_iter().map(|(key, ts)| Keyed { key, ts })).unwrap();
    assert_eq!(panes.count(), 0);
    pipeline.finish().unwrap().into_iter().map(|pane| (pane.key, pane.value)).collect()
}

#[derive(Clone, Serialize, Deserialize, Event)]
struct Keyed<K> {
    key: K,
    #[event(time, unit = "us")]
    ts: i64,
}

fn counted<K: Ord + Clone>(keys: &[K]) -> Vec<(K, u64)> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(key.clone()).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn any_type_of_key(
        strings in prop::collection::vec("[a-bé\u{1F600}]{0,3}", 0..30),
        tuples in prop::collection::vec((any::<i8>(), prop::option::of(0..3_u64)), 0..30),
        chars in prop::collection::vec(any::<char>(), 0..30),
    ) {
        prop_assert_eq!(counts(&strings), counted(&strings));
        prop_assert_eq!(counts(&tuples), counted(&tuples));
        prop_assert_eq!(counts(&chars), counted(&chars));
    }

    /// Aggregates do not depend on the order, to the last bit.
    #[test]
    fn aggregates_do_not_depend_on_the_order(
        values in prop::collection::vec((0..5_i64, any::<f64>().prop_filter("finite", |value| value.is_finite())), 1..20),
        seed in any::<u64>(),
    ) {
        let values: Vec<Sample> = values.into_iter().map(|(ts, value)| Sample { ts, value }).collect();
        let mut other = values.clone();
        other.sort_by_key(|sample| (sample.value.to_bits() ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        prop_assert_eq!(aggregated(&values), aggregated(&other));
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Sample {
    #[event(time, unit = "us")]
    ts: i64,
    value: f64,
}

/// Each aggregate of all values, as bits.
fn aggregated(samples: &[Sample]) -> Vec<u64> {
    let build = |source: Stream<Sample>| {
        let value = |sample: &Sample| sample.value;
        let windows = source.watermark(Bounded::new(secs(1))).key_by_owned(|_| 0_u8).window(Tumbling::new(secs(1)));
        let aggregates =
            (Sum::of(value), Min::of(value), Max::of(value), Mean::of(value), First::of(value), Last::of(value));
        windows.discard_late().aggregate(aggregates).into_streams()
    };
    let mut pipeline = Pipeline::new(build);
    assert_eq!(pipeline.push_batch(samples.to_vec()).unwrap().count(), 0);
    let panes = pipeline.finish().unwrap();
    let (sum, min, max, mean, first, last) = panes[0].value;
    [sum, min, max, mean, first, last].map(f64::to_bits).to_vec()
}
