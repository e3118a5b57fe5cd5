//! Streams that meet and part: joins, `enrich`, operators over keys, unions, splits and cascades, against naive models.

use std::collections::BTreeMap;

use ministream::operator::{KeyedOperator, Turn};
use ministream::prelude::*;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Event)]
struct Row {
    #[event(time, unit = "s")]
    ts: i64,
    key: u8,
    value: u8,
}

/// A row of one of two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left(Row),
    Right(Row),
}

impl Side {
    fn row(self) -> Row {
        match self {
            Side::Left(row) | Side::Right(row) => row,
        }
    }
}

/// A watermark as the naive models work it out: the largest timestamp minus the delay.
#[derive(Clone, Copy, Default)]
struct Clock(Option<i64>);

impl Clock {
    fn see(&mut self, ts: i64) {
        self.0 = self.0.max(Some(ts));
    }

    fn watermark(self, delay: i64) -> Option<i64> {
        self.0.map(|largest| largest - delay)
    }
}

/// The rows that are not late, each side for itself, and how many are.
fn accepted(delivery: &[Side], delay: i64) -> (Vec<Row>, Vec<Row>, usize) {
    let (mut clocks, mut rows, mut late) = ([Clock::default(); 2], [Vec::new(), Vec::new()], 0);
    for side in delivery {
        let watermark = clocks.map(|clock| clock.watermark(delay)).into_iter().min().flatten();
        let number = usize::from(matches!(side, Side::Right(_)));
        let row = side.row();
        if watermark.is_some_and(|watermark| row.ts < watermark) {
            late += 1;
        } else {
            rows[number].push(row);
        }
        clocks[number].see(row.ts);
    }
    let [left, right] = rows;
    (left, right, late)
}

/// Every two rows that belong together; and the left ones that are alone.
fn joined(left: &[Row], right: &[Row], within: (i64, i64)) -> Vec<(Row, Option<Row>)> {
    // Rows of one instant and key go by their encoding, and these are small enough to go by their value.
    let [left, right] = [left, right].map(|rows| {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        rows
    });
    let mut pairs = Vec::new();
    for (number, l) in left.iter().enumerate() {
        let fits = |r: &&Row| l.key == r.key && (within.0..=within.1).contains(&(r.ts - l.ts));
        pairs.extend(right.iter().filter(fits).map(|r| ((l.ts.max(r.ts), l.key, 0, number), *l, Some(*r))));
        if !right.iter().any(|r| fits(&r)) {
            pairs.push(((l.ts + within.1.max(0), l.key, 1, number), *l, None));
        }
    }
    pairs.sort();
    pairs.into_iter().map(|(_, l, r)| (l, r)).collect()
}

fn offset(seconds: i64) -> ministream::time::Offset {
    let by = secs(seconds.unsigned_abs());
    if seconds < 0 { before(by) } else { after(by) }
}

struct Run<R> {
    results: Vec<R>,
    late: usize,
    rows_in_the_end: u64,
}

fn run<I, O, R>(pipeline: Pipeline<I, O>, deliver: impl FnOnce(&mut Pipeline<I, O>) -> (Vec<R>, usize)) -> Run<R>
where
    O: ministream::Outputs,
{
    let mut pipeline = pipeline;
    let (results, late) = deliver(&mut pipeline);
    let rows_in_the_end = pipeline.counters().operators().iter().map(|operator| operator.rows).sum();
    Run { results, late, rows_in_the_end }
}

fn keyed(
    rows: Stream<Row>,
    delay: i64,
) -> ministream::KeyedStream<
    Row,
    impl ministream::Chain<Row, Side = ()>,
    impl ministream::select::Select<Row, Selected = u8>,
> {
    rows.watermark(Bounded::new(secs(delay.unsigned_abs()))).key_by(|row| &row.key)
}

fn inner_join(delivery: &[Side], delay: i64, within: (i64, i64)) -> Run<(Row, Row)> {
    let pipeline = Pipeline::try_new(|left: Stream<Row>, right: Stream<Row>| {
        let joined = keyed(left, delay).join(keyed(right, delay), offset(within.0)..=offset(within.1));
        let (joined, late_left) = joined.with_late_left();
        let (joined, late_right) = joined.with_late_right();
        (joined.into_streams(), late_left, late_right)
    });
    run(pipeline.unwrap(), |pipeline| {
        let (left, right) = pipeline.inputs();
        let (mut results, mut late) = (Vec::new(), 0);
        for side in delivery {
            let outputs = match side {
                Side::Left(row) => pipeline.push_to(left, *row),
                Side::Right(row) => pipeline.push_to(right, *row),
            };
            let (pairs, late_left, late_right) = outputs.unwrap();
            results.extend(pairs);
            late += late_left.count() + late_right.count();
        }
        pipeline.end_input(left).unwrap().0.for_each(|pair| results.push(pair));
        pipeline.end_input(right).unwrap().0.for_each(|pair| results.push(pair));
        (results, late)
    })
}

fn left_join(delivery: &[Side], delay: i64, within: (i64, i64)) -> Run<(Row, Option<Row>)> {
    let pipeline = Pipeline::try_new(|left: Stream<Row>, right: Stream<Row>| {
        let joined = keyed(left, delay).left_join(keyed(right, delay), offset(within.0)..=offset(within.1));
        joined.discard_late().into_streams()
    });
    run(pipeline.unwrap(), |pipeline| {
        let (left, right) = pipeline.inputs();
        let mut results = Vec::new();
        for side in delivery {
            results.extend(match side {
                Side::Left(row) => pipeline.push_to(left, *row).unwrap(),
                Side::Right(row) => pipeline.push_to(right, *row).unwrap(),
            });
        }
        pipeline.end_input(right).unwrap().for_each(|pair| results.push(pair));
        pipeline.end_input(left).unwrap().for_each(|pair| results.push(pair));
        let late = pipeline.counters().late();
        (results, usize::try_from(late).unwrap())
    })
}

fn enriched(delivery: &[Side], delay: i64) -> Run<(Row, Option<Row>)> {
    let pipeline = Pipeline::try_new(|events: Stream<Row>, table: Stream<Row>| {
        let enriched = keyed(events, delay).enrich_or_none(keyed(table, delay));
        let (enriched, late) = enriched.with_late();
        let (enriched, late_versions) = enriched.with_late_versions();
        (enriched.into_streams(), late, late_versions)
    });
    run(pipeline.unwrap(), |pipeline| {
        let (events, table) = pipeline.inputs();
        let (mut results, mut late) = (Vec::new(), 0);
        for side in delivery {
            let outputs = match side {
                Side::Left(row) => pipeline.push_to(events, *row),
                Side::Right(row) => pipeline.push_to(table, *row),
            };
            let (rows, late_events, late_versions) = outputs.unwrap();
            results.extend(rows);
            late += late_events.count() + late_versions.count();
        }
        pipeline.end_input(events).unwrap().0.for_each(|row| results.push(row));
        pipeline.end_input(table).unwrap().0.for_each(|row| results.push(row));
        (results, late)
    })
}

/// Each event with the version that was newest at its time.
fn with_newest(events: &[Row], versions: &[Row]) -> Vec<(Row, Option<Row>)> {
    let mut rows: Vec<_> = events
        .iter()
        .map(|event| {
            let known = versions.iter().filter(|version| version.key == event.key && version.ts <= event.ts);
            (*event, known.max().copied())
        })
        .collect();
    rows.sort_by_key(|(event, _)| (event.ts, event.key, event.value));
    rows
}

/// Running sums, and how many events came before a silence of five seconds.
struct Bursts;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Burst {
    sum: u64,
    events: u64,
    ends: Timestamp,
}

impl KeyedOperator<u8, Row> for Bursts {
    type State = Burst;
    type Out = (u8, i64, u64, bool);

    fn on_event(&mut self, row: Row, burst: &mut Option<Burst>, turn: &mut Turn<'_, u8, Self::Out>) {
        let burst = burst.get_or_insert(Burst { sum: 0, events: 0, ends: turn.at() });
        turn.cancel_timer(burst.ends);
        burst.sum += u64::from(row.value);
        burst.events += 1;
        burst.ends = turn.at() + secs(5);
        turn.set_timer(burst.ends);
        turn.emit((*turn.key(), row.ts, burst.sum, false));
    }

    fn on_timer(&mut self, burst: &mut Option<Burst>, turn: &mut Turn<'_, u8, Self::Out>) {
        if let Some(burst) = burst.take() {
            turn.emit((*turn.key(), turn.at().as_micros() / 1_000_000, burst.events, true));
        }
    }

    fn name(&self) -> &'static str {
        "bursts"
    }
}

fn bursts(delivery: &[Row], delay: i64) -> Run<(u8, i64, u64, bool)> {
    let pipeline = Pipeline::try_new(|rows: Stream<Row>| {
        let (bursts, late) = keyed(rows, delay).process(Bursts).with_late();
        (bursts.into_streams(), late)
    });
    run(pipeline.unwrap(), |pipeline| {
        let (mut results, mut late) = (Vec::new(), 0);
        for row in delivery {
            let outputs = pipeline.push(*row).unwrap();
            results.extend(outputs.0);
            late += outputs.1.count();
        }
        let rows = pipeline.inputs();
        pipeline.end_input(rows).unwrap().0.for_each(|result| results.push(result));
        (results, late)
    })
}

fn bursts_of(rows: &[Row]) -> Vec<(u8, i64, u64, bool)> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| (row.ts, row.key, row.value));
    let mut results = Vec::new();
    for key in 0..3_u8 {
        let mut open: Option<(u64, u64, i64)> = None;
        for row in rows.iter().filter(|row| row.key == key) {
            if let Some((_, events, ends)) = open.filter(|(_, _, ends)| *ends <= row.ts) {
                results.push(((ends, 0, key), (key, ends, events, true)));
                open = None;
            }
            let (sum, events, _) = open.unwrap_or_default();
            open = Some((sum + u64::from(row.value), events + 1, row.ts + 5));
            results.push(((row.ts, 1, key), (key, row.ts, sum + u64::from(row.value), false)));
        }
        if let Some((_, events, ends)) = open {
            results.push(((ends, 0, key), (key, ends, events, true)));
        }
    }
    results.sort_by_key(|(order, _)| *order);
    results.into_iter().map(|(_, result)| result).collect()
}

fn rows() -> impl Strategy<Value = Vec<(bool, Row)>> {
    let row = (any::<bool>(), 0..30_i64, 0..3_u8, 0..4_u8);
    proptest::collection::vec(row.prop_map(|(left, ts, key, value)| (left, Row { ts, key, value })), 0..40)
}

fn side((left, row): (bool, Row)) -> Side {
    if left { Side::Left(row) } else { Side::Right(row) }
}

/// The rows in an order whose disorder stays within the delay.
fn shuffled(rows: &[(bool, Row)], jitter: &[i64], delay: i64) -> Vec<(bool, Row)> {
    let mut arrivals: Vec<_> =
        rows.iter().zip(jitter.iter().cycle()).map(|(row, jitter)| (row.1.ts + jitter % (delay + 1), *row)).collect();
    arrivals.sort_by_key(|(arrival, _)| *arrival);
    arrivals.into_iter().map(|(_, row)| row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn joins_do_what_the_model_does(rows in rows(), delay in 0..8_i64, a in -8..8_i64, b in -8..8_i64) {
        let delivery: Vec<_> = rows.into_iter().map(side).collect();
        let within = (a.min(b), a.max(b));
        let (left, right, late) = accepted(&delivery, delay);
        let expected = joined(&left, &right, within);
        let inner = inner_join(&delivery, delay, within);
        let pairs: Vec<_> = expected.iter().filter_map(|(l, r)| Some((*l, (*r)?))).collect();
        prop_assert_eq!(inner.results, pairs);
        prop_assert_eq!(inner.late, late);
        prop_assert_eq!(inner.rows_in_the_end, 0);
        let outer = left_join(&delivery, delay, within);
        prop_assert_eq!(outer.results, expected);
        prop_assert_eq!(outer.late, late);
        prop_assert_eq!(outer.rows_in_the_end, 0);
    }

    #[test]
    fn the_order_of_arrival_changes_no_join(
        rows in rows(),
        one in proptest::collection::vec(0..8_i64, 1..40),
        other in proptest::collection::vec(0..8_i64, 1..40),
        delay in 0..8_i64,
    ) {
        let [one, other] = [one, other].map(|jitter| -> Vec<_> {
            shuffled(&rows, &jitter, delay).into_iter().map(side).collect()
        });
        let results = left_join(&one, delay, (-3, 4)).results;
        prop_assert_eq!(&results, &left_join(&other, delay, (-3, 4)).results);
        prop_assert_eq!(left_join(&one, delay, (-3, 4)).late, 0);
        prop_assert_eq!(enriched(&one, delay).results, enriched(&other, delay).results);
    }

    #[test]
    fn enrich_does_what_the_model_does(rows in rows(), delay in 0..8_i64) {
        let delivery: Vec<_> = rows.into_iter().map(side).collect();
        let (events, versions, late) = accepted(&delivery, delay);
        let run = enriched(&delivery, delay);
        prop_assert_eq!(run.results, with_newest(&events, &versions));
        prop_assert_eq!(run.late, late);
        let mut keys: Vec<_> = versions.iter().map(|version| version.key).collect();
        keys.sort_unstable();
        keys.dedup();
        prop_assert_eq!(run.rows_in_the_end, keys.len() as u64);
    }

    #[test]
    fn operators_over_keys_see_events_in_order(
        rows in rows(),
        jitter in proptest::collection::vec(0..8_i64, 1..40),
        delay in 0..8_i64,
    ) {
        let delivery: Vec<_> = rows.iter().map(|(_, row)| *row).collect();
        let (mut clock, mut in_time) = (Clock::default(), Vec::new());
        for row in &delivery {
            if clock.watermark(delay).is_none_or(|watermark| watermark <= row.ts) {
                in_time.push(*row);
            }
            clock.see(row.ts);
        }
        let run = bursts(&delivery, delay);
        prop_assert_eq!(run.results, bursts_of(&in_time));
        prop_assert_eq!(run.late, delivery.len() - in_time.len());
        prop_assert_eq!(run.rows_in_the_end, 0);

        let shuffled: Vec<_> = shuffled(&rows, &jitter, delay).into_iter().map(|(_, row)| row).collect();
        let run = bursts(&shuffled, delay);
        prop_assert_eq!(run.results, bursts_of(&delivery));
        prop_assert_eq!(run.late, 0);
    }

    /// Parts of a stream that come together again are the stream, and each event goes one way.
    #[test]
    fn a_split_and_a_union_lose_nothing(rows in rows(), delay in 0..8_i64) {
        let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
        let sums = |rows: Stream<Row>| {
            let keyed = rows.key_by(|row| &row.key);
            keyed.window(Tumbling::new(secs(5))).sum(|row| u32::from(row.value)).into_streams()
        };
        let delay = secs(delay.unsigned_abs());
        let mut whole = Pipeline::new(|rows: Stream<Row>| sums(rows.watermark(Bounded::new(delay)).into_streams()));
        let mut parts = Pipeline::new(|rows: Stream<Row>| {
            let rows = rows.watermark(Bounded::new(delay));
            let (rows, small) = rows.split_off(|row| row.value < 2);
            let (rows, twos) = rows.split_off(|row| row.value < 3);
            let ways = (small.clone(), twos.clone());
            let rest = rows.into_streams();
            let together = rest.clone().union([twos, small]);
            let (panes, late) = sums(together);
            (panes, late, ways.0, ways.1, rest)
        });
        let mut counts = [0_usize; 3];
        for row in &rows {
            let (panes, late) = whole.push(*row).unwrap();
            let (same_panes, same_late, small, twos, rest) = parts.push(*row).unwrap();
            prop_assert_eq!(panes.collect::<Vec<_>>(), same_panes.collect::<Vec<_>>());
            prop_assert_eq!(late.collect::<Vec<_>>(), same_late.collect::<Vec<_>>());
            for (count, more) in counts.iter_mut().zip([small.count(), twos.count(), rest.count()]) {
                *count += more;
            }
        }
        let of = |values: std::ops::Range<u8>| rows.iter().filter(|row| values.contains(&row.value)).count();
        prop_assert_eq!(counts, [of(0..2), of(2..3), of(3..4)]);
        let (panes, _) = whole.finish().unwrap();
        prop_assert_eq!(panes, parts.finish().unwrap().0);
    }

    /// Sums of sums are the sums, whatever the order of arrival within the delay.
    #[test]
    fn a_cascade_counts_once(
        rows in rows(),
        jitter in proptest::collection::vec(0..8_i64, 1..40),
        delay in 0..8_i64,
    ) {
        let delivery: Vec<_> = shuffled(&rows, &jitter, delay).into_iter().map(|(_, row)| row).collect();
        let delay = secs(delay.unsigned_abs());
        let mut pipeline = Pipeline::try_new(|rows: Stream<Row>| {
            let keyed = rows.watermark(Bounded::new(delay)).key_by(|row| &row.key);
            let sums = keyed.window(Tumbling::new(secs(5))).discard_late().sum(|row| i64::from(row.value));
            let of_sums = sums.key_by(|pane| &pane.key).window(Tumbling::new(secs(15))).discard_late();
            of_sums.sum(|pane| pane.value).into_streams()
        }).unwrap();
        let mut results: Vec<_> = delivery.iter().flat_map(|row| pipeline.push(*row).unwrap().collect::<Vec<_>>()).collect();
        results.extend(pipeline.finish().unwrap());
        let mut expected = BTreeMap::new();
        for row in &delivery {
            *expected.entry((row.ts / 15, row.key)).or_insert(0) += i64::from(row.value);
        }
        let results: Vec<_> = results
            .iter()
            .map(|pane| ((pane.window.start.as_micros() / 15_000_000, pane.key), pane.value))
            .collect();
        prop_assert_eq!(results, expected.into_iter().collect::<Vec<_>>());
    }
}

fn row(ts: i64, value: u8) -> Row {
    Row { ts, key: 0, value }
}

/// What one push to a union of two inputs with watermarks of their own brings about.
fn union_of_two() -> Pipeline<ministream::Sources<(Row, Row)>, Stream<Pane<u8, u32>>> {
    Pipeline::try_new(|one: Stream<Row>, other: Stream<Row>| {
        let one = one.watermark(Bounded::new(secs(0)));
        let other = other.watermark(Bounded::new(secs(0))).into_streams();
        let keyed = one.union([other]).key_by(|row| &row.key);
        keyed.window(Tumbling::new(secs(10))).discard_late().sum(|row| u32::from(row.value)).into_streams()
    })
    .unwrap()
}

const NONE: [u32; 0] = [];

fn values(panes: ministream::Drain<'_, Pane<u8, u32>>) -> Vec<u32> {
    panes.map(|pane| pane.value).collect()
}

#[test]
fn the_watermark_of_a_union_is_the_smallest_of_its_active_inputs() {
    let mut pipeline = union_of_two();
    let (one, other) = pipeline.inputs();
    assert_eq!(values(pipeline.push_to(one, row(1, 1)).unwrap()), NONE);
    assert_eq!(values(pipeline.push_to(one, row(25, 2)).unwrap()), NONE);
    assert_eq!(values(pipeline.push_to(other, row(5, 4)).unwrap()), NONE);
    assert_eq!(values(pipeline.push_to(other, row(12, 8)).unwrap()), [5]);
    // The quiet one holds nothing back.
    assert_eq!(values(pipeline.set_idle(other).unwrap()), [8]);
    assert_eq!(values(pipeline.push_to(one, row(32, 16)).unwrap()), [2]);
    // It is back, and behind: its event is late, and it holds back again.
    assert_eq!(values(pipeline.push_to(other, row(13, 32)).unwrap()), NONE);
    assert_eq!(pipeline.counters().late(), 1);
    assert_eq!(values(pipeline.push_to(one, row(60, 64)).unwrap()), NONE);
    assert_eq!(values(pipeline.advance_input_to(other, Timestamp::from_secs(45)).unwrap()), [16]);
    // One that has ended never holds back again.
    assert_eq!(values(pipeline.end_input(other).unwrap()), NONE);
    assert_eq!(values(pipeline.push_to(one, row(70, 128)).unwrap()), [64]);
    let error = pipeline.push_to(other, row(71, 0)).unwrap_err();
    assert_eq!(error.to_string(), "pipeline: source 1 has ended, and takes nothing any more");
    assert_eq!(pipeline.finish().unwrap().into_iter().map(|pane| pane.value).collect::<Vec<_>>(), [128]);
}

#[test]
fn a_function_takes_up_to_eight_streams() {
    type Rows = Stream<Row>;
    let mut pipeline = Pipeline::new(|a: Rows, b: Rows, c: Rows, d: Rows, e: Rows, f: Rows, g: Rows, h: Rows| {
        a.union([b, c, d, e, f, g, h])
    });
    let (a, _, _, _, _, _, _, h) = pipeline.inputs();
    assert_eq!(pipeline.push_to(h, row(1, 1)).unwrap().count(), 1);
    assert_eq!(pipeline.push_batch_to(a, [row(2, 2), row(3, 3)]).unwrap().collect::<Vec<_>>(), [row(2, 2), row(3, 3)]);
    assert_eq!(pipeline.counters().events_in(), 3);
}

#[test]
fn an_input_belongs_to_its_pipeline() {
    let (one, _) = union_of_two().inputs();
    let error = union_of_two().push_to(one, row(1, 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "pipeline: this input belongs to another pipeline: take the names from `inputs()` of this one"
    );
}

#[test]
fn what_meets_needs_a_watermark_on_each_side_or_on_none() {
    let mixed = Pipeline::try_new(|one: Stream<Row>, other: Stream<Row>| {
        let keyed = one.watermark(Bounded::new(secs(0))).union([other]).key_by(|row| &row.key);
        keyed.window(Tumbling::new(secs(10))).discard_late().count().into_streams()
    });
    assert_eq!(
        mixed.unwrap_err().to_string(),
        "the pipeline is refused: `union`: some of its streams have a watermark, and others have none: put a stage such as \
         `watermark(delay = 3s)` in front, for each of them"
    );
    let none = Pipeline::try_new(|one: Stream<Row>, other: Stream<Row>| {
        let joined = one.key_by(|row| &row.key).join(other.key_by(|row| &row.key), offset(0)..=offset(1));
        joined.discard_late().into_streams()
    });
    assert_eq!(
        none.unwrap_err().to_string(),
        "the pipeline is refused: `join`: no watermark reaches it, so nothing would ever leave it: put a stage such as \
         `watermark(delay = 3s)` in front, for each of its streams"
    );
    let late = Pipeline::try_new(|one: Stream<Row>, other: Stream<Row>| {
        keyed(one, 1).join(keyed(other, 1), offset(3)..=offset(1)).with_late_left().0.into_streams()
    });
    let reasons: Vec<_> = late.unwrap_err().refusals().iter().map(ToString::to_string).collect();
    assert_eq!(
        reasons,
        [
            "`stream`: nothing reads this stream of `Late<Row>`: return it, feed it to another stage, or call `discard()` on it",
            "`join`: its late events have nowhere to go: take them with `with_late_right()`, or drop them on purpose with \
             `discard_late()`",
            "`join`: `within` goes from 3s to 1s, so no two rows ever fit: put the smaller bound first",
        ]
    );
}

/// Corrections are counted once: nothing that counts stands behind a window with lateness, also through other stages.
#[test]
fn corrections_never_reach_what_counts() {
    let corrected = |rows: Stream<Row>| {
        let windows = keyed(rows, 0).window(Tumbling::new(secs(10))).allowed_lateness(secs(5)).discard_late();
        windows.sum(|row| u32::from(row.value)).into_streams()
    };
    let refused = |pipeline: Result<(), Error>, stage: &str| {
        let error = pipeline.unwrap_err().to_string();
        let expected = format!("the pipeline is refused: `{stage}`: the results in front of it can be corrected");
        assert!(error.starts_with(&expected), "{error}");
    };
    refused(
        Pipeline::try_new(|rows: Stream<Row>| {
            let plain = corrected(rows).filter(|pane| pane.value > 1).into_streams();
            let keyed = plain.clone().union([plain]).key_by(|pane| &pane.key);
            keyed.window(Tumbling::new(secs(60))).discard_late().count().into_streams()
        })
        .map(drop),
        "tumbling",
    );
    refused(
        Pipeline::try_new(|rows: Stream<Row>| {
            let panes = corrected(rows);
            let pairs =
                panes.clone().key_by(|pane| &pane.key).join(panes.key_by(|pane| &pane.key), offset(0)..=offset(1));
            pairs.discard_late().into_streams()
        })
        .map(drop),
        "join",
    );
}

#[test]
fn a_dedup_remembers_for_the_windows_behind_late_streams_too() {
    let mut pipeline = Pipeline::try_new(|rows: Stream<Row>| {
        let rows = rows.dedup(|row| &row.value).watermark(Bounded::new(secs(0)));
        let (windows, late) = rows.key_by(|row| &row.key).window(Tumbling::new(secs(10))).with_late();
        let minutes = late.key_by_owned(|late| late.event.key).window(Tumbling::new(minutes(1)));
        (windows.count().into_streams(), minutes.discard_late().count().into_streams())
    })
    .unwrap();
    let text = pipeline.describe().to_string();
    assert!(text.contains("dedup(ttl = 1m)"), "{text}");
    for row in [row(1, 1), row(30, 2), row(2, 3), row(31, 4), row(2, 3)] {
        let _ = pipeline.push(row).unwrap();
    }
    assert_eq!(pipeline.counters().duplicates(), 1);
    let (panes, late) = pipeline.finish().unwrap();
    assert_eq!(panes.iter().map(|pane| pane.value).collect::<Vec<_>>(), [2]);
    assert_eq!(late.iter().map(|pane| pane.value).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_dedup_whose_events_go_out_as_they_are_states_its_ttl() {
    let refused = Pipeline::try_new(|rows: Stream<Row>| {
        let unique = rows.dedup(|row| &row.value).watermark(Bounded::new(secs(0))).into_streams();
        let (unique, large) = unique.split_off(|row| row.value > 9);
        let windows = unique.key_by(|row| &row.key).window(Tumbling::new(secs(10)));
        (windows.discard_late().count().into_streams(), large)
    });
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the pipeline is refused: `dedup`: some of its events go out without a window, where nothing says for how long copies \
         matter: state a ttl, as in `dedup(id, ttl = 1h)`"
    );
}

/// The verdict of a `watermark` stage is known in front of it, in another function, too.
#[test]
fn a_rejected_events_id_is_not_remembered_across_functions() {
    let mut pipeline = Pipeline::try_new(|rows: Stream<Row>| {
        let unique = rows.dedup(|row| &row.value).ttl(minutes(1)).into_streams();
        let keyed = unique.watermark(Bounded::new(secs(0)).max_ahead(secs(60))).key_by(|row| &row.key);
        keyed.window(Tumbling::new(secs(10))).discard_late().count().into_streams()
    })
    .unwrap();
    for row in [row(1, 1), row(1_000, 2), row(2, 2)] {
        let _ = pipeline.push(row).unwrap();
    }
    assert_eq!((pipeline.counters().rejected(), pipeline.counters().duplicates()), (1, 0));
    assert_eq!(pipeline.finish().unwrap().iter().map(|pane| pane.value).collect::<Vec<_>>(), [2]);
}
