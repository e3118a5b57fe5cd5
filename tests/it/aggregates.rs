//! The aggregates: timelines of each, and that no order of arrival changes what they give.

use std::collections::{BTreeMap, BTreeSet};

use insta::assert_snapshot;
use ministream::aggregates::{AggregatesOf, ApproxDistinct, Quantile};
use ministream::prelude::*;
use ministream::window::WindowKind;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::timeline::{Click, Outputs, run};

/// Corrections: of a window that has fired, by an event with a value that is there already, and by one with a new value.
const WINDOWS: &str = "
    a 1s 3
    a 2s 5
    b 3s 5
    a 3s 1
    a 12s 2
    a 2s 5
    a 9s -7
    b 35s 0
    a 4s 8
    end";

/// The event at 3.5s joins two sessions that have fired.
const SESSIONS: &str = "
    a 0s 4
    b 1s 9
    a 7s 2
    a 14s 4
    a 3.5s 8
    end";

/// Both timelines.
fn timelines<A, F>(aggregate: F) -> String
where
    A: Aggregate<Click, Out: std::fmt::Debug>,
    F: Fn(AggregatesOf<Click>) -> A + Copy + 'static,
{
    let tumbling = run(shown(Tumbling::new(secs(10)), aggregate), WINDOWS);
    format!("{tumbling}\n{}", run(shown(Session::new(secs(5)), aggregate), SESSIONS))
}

fn shown<W, A, F>(windows: W, aggregate: F) -> impl FnOnce(Stream<Click>) -> Outputs
where
    W: WindowKind,
    A: Aggregate<Click, Out: std::fmt::Debug>,
    F: Fn(AggregatesOf<Click>) -> A,
{
    move |source| {
        let (unique, duplicates) = source.dedup(|click| &click.id).ttl(hours(24)).with_duplicates();
        let (events, rejected) = unique.watermark(Bounded::new(secs(0))).with_rejected();
        let windows = events.key_by(|click| &click.user).window(windows).allowed_lateness(secs(20));
        let results = windows.aggregate_with(|of| of.map(aggregate(of), |value| format!("{value:?}")));
        let (results, late) = results.map(|pane| pane.to_string()).into_streams();
        (results, late, duplicates, rejected)
    }
}

#[test]
fn fold_takes_in_each_event_and_merges_sessions() {
    // Which values there have been, as bits; and how many.
    assert_snapshot!(timelines(|of| {
        let seen = |(bits, n), click: &Click| (bits | 1 << (click.value + 7), n + 1);
        of.fold((0_u32, 0_u8), seen, |(bits, n), (more, m)| (bits | more, n + m))
    }));
}

#[test]
fn top_gives_the_greatest_first_and_the_earlier_of_equals() {
    let texts = |clicks: Vec<Click>| clicks.iter().map(|c| format!("{}#{}", c.value, c.id)).collect::<Vec<_>>();
    assert_snapshot!(timelines(move |of| of.map(of.top(2, |click| click.value), texts)));
}

#[test]
fn distinct_counts_each_value_once() {
    assert_snapshot!(timelines(|of| of.distinct(|click| click.value)));
}

#[test]
fn few_values_are_estimated_without_error() {
    assert_snapshot!(timelines(|of| of.approx_distinct(|click| click.value)));
}

#[test]
fn quantile_is_near_one_of_the_values() {
    let rounded = |value: f64| format!("{value:.2}");
    assert_snapshot!(timelines(move |of| of.map(of.quantile(|click| click.value, 0.5), rounded)));
}

#[test]
fn several_aggregates_give_a_tuple_or_what_is_made_of_it() {
    #[derive(Clone, Debug, Serialize, Deserialize)]
    struct Stats {
        total: i64,
        clicks: u64,
        longest_user: usize,
    }
    assert_snapshot!(timelines(|of| {
        let all = (of.sum(|c| c.value), of.count(), of.max(|c| c.user.len()));
        of.map(all, |(total, clicks, longest_user)| Stats { total, clicks, longest_user })
    }));
    assert_snapshot!(timelines(|of| (
        of.count(),
        of.sum(|c| c.value),
        of.min(|c| c.value),
        of.max(|c| c.value),
        of.mean(|c| c.value),
        of.first(|c| c.id),
        of.last(|c| c.id),
        of.distinct(|c| c.value),
    )));
}

#[test]
fn what_is_not_finite_has_no_quantile_and_all_else_goes_on() {
    let latency = |click: &Click| match click.value {
        8 => f64::NAN,
        9 => f64::INFINITY,
        value => value as f64,
    };
    assert_snapshot!(timelines(move |of| of.quantile(latency, 1.0)));
}

#[test]
fn an_error_of_one_of_several_aggregates_says_which() {
    let small = |click: &Click| click.value as u8;
    let text = run(shown(Tumbling::new(secs(10)), move |of| (of.count(), of.sum(small))), "a 1s 200\na 2s 56\nend");
    assert_snapshot!(text);
}

#[test]
fn settings_that_cannot_work_are_refused_when_it_is_built() {
    fn refusals<A, F>(aggregate: F) -> Vec<String>
    where
        A: Aggregate<Click, Out: std::fmt::Debug>,
        F: Fn(AggregatesOf<Click>) -> A,
    {
        let error = Pipeline::try_new(shown(Tumbling::new(secs(10)), aggregate)).unwrap_err();
        assert!(error.is_refused());
        error.refusals().iter().map(ToString::to_string).collect()
    }
    assert_eq!(refusals(|of| of.top(0, |c| c.value)), ["`top`: the number of events must be greater than zero"]);
    assert_eq!(refusals(|of| of.quantile(|c| c.value, 1.5)), ["`quantile`: q is 1.5, but has to lie between 0 and 1"]);
    assert_eq!(
        refusals(|of| of.quantile(|c| c.value, -0.1)),
        ["`quantile`: q is -0.1, but has to lie between 0 and 1"]
    );
    assert_eq!(
        refusals(|of| of.quantile(|c| c.value, f64::NAN)),
        ["`quantile`: q is NaN, but has to lie between 0 and 1"]
    );
    // Each mistake of several aggregates, by its own name.
    assert_eq!(
        refusals(|of| (of.top(0, |c| c.value), of.count(), of.quantile(|c| c.value, 95.0))),
        [
            "`aggregate`: top: the number of events must be greater than zero",
            "`aggregate`: quantile: q is 95, but has to lie between 0 and 1"
        ]
    );
    let limits = |of: AggregatesOf<Click>| {
        (of.top(1, |c| c.value), of.quantile(|c| c.value, 0.0), of.quantile(|c| c.value, 1.0))
    };
    assert!(Pipeline::try_new(shown(Tumbling::new(secs(10)), limits)).is_ok());
}

/// An event whose fields serde writes as a map of unknown length, in an order of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Event)]
struct Tagged {
    #[event(time, unit = "us")]
    ts: i64,
    value: u8,
    #[serde(flatten)]
    tags: std::collections::HashMap<String, u8>,
    number: u8,
}

/// The first three of events with the same value and time.
fn first_three(events: &[Tagged], order: &[usize]) -> Vec<Tagged> {
    let build = |source: Stream<Tagged>| {
        let windows = source.watermark(Bounded::new(secs(1))).key_by_owned(|_| 0_u8).window(Tumbling::new(secs(1)));
        windows.discard_late().top(3, |event| event.value).into_streams()
    };
    let mut pipeline = Pipeline::new(build);
    assert_eq!(pipeline.push_batch(order.iter().map(|&index| events[index].clone())).unwrap().count(), 0);
    pipeline.finish().unwrap().remove(0).value
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Event)]
struct Sample {
    #[event(time, unit = "us")]
    ts: i64,
    value: f64,
    small: i8,
    id: u16,
}

/// What each window gives, floats as bits.
#[derive(Clone, Debug, PartialEq)]
struct Given {
    top: Vec<Sample>,
    distinct: u64,
    approx_distinct: u64,
    fold: (u64, i64),
    quantiles: [u64; 4],
}

const QUANTILES: [f64; 4] = [0.0, 0.5, 0.9, 1.0];

/// By window.
fn given(samples: &[Sample], windows: impl WindowKind) -> BTreeMap<Window, Given> {
    let build = |source: Stream<Sample>| {
        let windows = source.watermark(Bounded::new(secs(1))).key_by_owned(|_| 0_u8).window(windows);
        let results = windows.discard_late().aggregate_with(|of| {
            (
                of.top(3, |s| s.small),
                of.distinct(|s| s.small),
                of.approx_distinct(|s| s.small),
                of.fold((0, 0), |(n, sum), s| (n + 1, sum + i64::from(s.small)), |(n, a), (m, b)| (n + m, a + b)),
                of.quantile(|s| s.value, QUANTILES[0]),
                of.quantile(|s| s.value, QUANTILES[1]),
                of.quantile(|s| s.value, QUANTILES[2]),
                of.quantile(|s| s.value, QUANTILES[3]),
            )
        });
        results.into_streams()
    };
    let mut pipeline = Pipeline::new(build);
    assert_eq!(pipeline.push_batch(samples.to_vec()).unwrap().count(), 0);
    let panes = pipeline.finish().unwrap().into_iter().map(|pane| {
        let (top, distinct, approx_distinct, fold, a, b, c, d) = pane.value;
        (pane.window, Given { top, distinct, approx_distinct, fold, quantiles: [a, b, c, d].map(f64::to_bits) })
    });
    panes.collect()
}

fn finite() -> impl Strategy<Value = f64> {
    let edges = [0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, -5e-324, 1e-9, -1e-9, 1.0, -1.0];
    prop_oneof![
        3 => any::<f64>().prop_filter("finite", |value| value.is_finite()),
        3 => -1e4..1e4,
        2 => prop::sample::select(edges.to_vec()),
    ]
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let sample = |(ts, value, small, id)| Sample { ts, value, small, id };
    prop::collection::vec((0..12_i64, finite(), -3..4_i8, 0..500_u16).prop_map(sample), 1..30)
}

/// The same, in another order.
fn reordered<T: Clone>(values: &[T], seed: u64) -> Vec<T> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|&place| (place as u64 ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17));
    order.into_iter().map(|place| values[place].clone()).collect()
}

/// What an aggregate gives if the values are dealt out to several accumulators, which are then merged.
fn in_parts<T: Clone, A: Aggregate<T>>(
    aggregate: &A,
    values: &[T],
    parts: usize,
    seed: u64,
) -> Result<A::Out, AggregateError> {
    let mut accumulators: Vec<_> = (0..parts).map(|_| aggregate.create()).collect();
    for (place, value) in reordered(values, seed).iter().enumerate() {
        let part = (place as u64 ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        aggregate.add(&mut accumulators[part as usize % parts], Timestamp::EPOCH, value);
    }
    // Not only into the first: as sessions are, two by two.
    while accumulators.len() > 1 {
        let at = seed as usize % (accumulators.len() - 1);
        let other = accumulators.remove(at + 1);
        aggregate.merge(&mut accumulators[at], other);
    }
    aggregate.finish(&accumulators[0])
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn no_order_of_arrival_changes_what_is_given(samples in samples(), seed in any::<u64>()) {
        let other = reordered(&samples, seed);
        let one_window = Tumbling::new(secs(1));
        prop_assert_eq!(given(&samples, one_window.clone()), given(&other, one_window));
        // Sessions are merged in the order in which events join them.
        let sessions = Session::new(micros(2));
        prop_assert_eq!(given(&samples, sessions.clone()), given(&other, sessions));
    }

    #[test]
    fn what_is_given_is_what_was_asked_for(samples in samples()) {
        let windows = given(&samples, Tumbling::new(micros(4)));
        let mut by_window: BTreeMap<i64, Vec<Sample>> = BTreeMap::new();
        for sample in samples {
            by_window.entry(sample.ts / 4).or_default().push(sample);
        }
        prop_assert_eq!(windows.len(), by_window.len());
        for (given, mut samples) in windows.into_values().zip(by_window.into_values()) {
            let small: BTreeSet<_> = samples.iter().map(|sample| sample.small).collect();
            prop_assert_eq!((given.distinct, given.approx_distinct), (small.len() as u64, small.len() as u64));
            let sum = samples.iter().map(|sample| i64::from(sample.small)).sum::<i64>();
            prop_assert_eq!(given.fold, (samples.len() as u64, sum));

            samples.sort_by_key(|sample| (std::cmp::Reverse(sample.small), sample.ts));
            let order = |sample: &Sample| (sample.small, sample.ts);
            let greatest = samples.iter().take(3).map(order);
            prop_assert!(given.top.iter().map(order).eq(greatest), "{:?} of {:?}", given.top, samples);
            prop_assert!(given.top.iter().all(|sample| samples.contains(sample)));

            let mut values: Vec<_> = samples.iter().map(|sample| sample.value).collect();
            values.sort_by(f64::total_cmp);
            for (q, bits) in QUANTILES.into_iter().zip(given.quantiles) {
                let exact = values[(q * (values.len() - 1) as f64).floor() as usize];
                let found = f64::from_bits(bits);
                let error = exact.abs() * 0.0100001 + if exact.abs() <= 1e-9 { 1e-9 } else { 0.0 };
                prop_assert!((found - exact).abs() <= error, "{}: {:e} for {:e}", q, found, exact);
            }
        }
    }

    #[test]
    fn an_estimate_does_not_depend_on_the_order_of_adding_and_merging(
        number in 0..1_500_u32,
        copies in 1..3_u32,
        parts in 1..6_usize,
        seed in any::<u64>(),
    ) {
        let values: Vec<u32> = (0..number * copies).map(|value| value % number).collect();
        let aggregate = ApproxDistinct::of(move |value: &u32| value.wrapping_mul(seed as u32 | 1));
        let estimate = in_parts(&aggregate, &values, 1, 0).unwrap();
        prop_assert_eq!(in_parts(&aggregate, &values, parts, seed).unwrap(), estimate);
        // Five standard errors.
        prop_assert!(estimate.abs_diff(u64::from(number)) as f64 <= f64::from(number) * 5.0 * 0.01625 + 1.0);
    }

    #[test]
    fn a_quantile_does_not_depend_on_the_order_of_adding_and_merging(
        values in prop::collection::vec(finite(), 1..200),
        q in prop_oneof![0.0..=1.0, Just(0.0), Just(1.0)],
        parts in 1..6_usize,
        seed in any::<u64>(),
    ) {
        let aggregate = Quantile::of(|value: &f64| *value, q);
        let bits = |given: Result<f64, AggregateError>| given.map(f64::to_bits);
        prop_assert_eq!(
            bits(in_parts(&aggregate, &values, parts, seed)),
            bits(in_parts(&aggregate, &values, 1, 0))
        );
    }

    #[test]
    fn ties_do_not_depend_on_the_order_whatever_the_type(
        tags in prop::collection::vec(prop::collection::hash_map("[a-c]", 0..3_u8, 0..4), 2..8),
        seed in any::<u64>(),
    ) {
        let event = |(number, tags)| Tagged { ts: 0, value: 1, tags, number };
        let events: Vec<Tagged> = (0..).zip(tags).map(event).collect();
        let order: Vec<usize> = (0..events.len()).collect();
        prop_assert_eq!(first_three(&events, &order), first_three(&events, &reordered(&order, seed)));
    }
}
