//! Properties that hold for any events, in any order of delivery: against the model, and of the runtime alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::Range;

use ministream::prelude::*;
use ministream::window::WindowKind;
use ministream::{Chain, Counters, Key, Timing};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::model::{Early, Fate, Fired, Kind, Model, Row, Settings, Step, Values};

type Panes<K> = Stream<Pane<K, Values<K>>>;

/// Results, late events, rejected events, and behind a `dedup` the copies.
type Plain<K> = (Panes<K>, Stream<Late<Row<K>>>, Stream<Row<K>>);
type Unique<K> = (Panes<K>, Stream<Late<Row<K>>>, Stream<Row<K>>, Stream<Row<K>>);

fn ticks(count: i64) -> std::time::Duration {
    micros(u64::try_from(count).unwrap())
}

fn windowed<K, C, W>(rows: Stream<Row<K>, C>, settings: Settings, windows: W) -> Plain<K>
where
    K: Key,
    C: Chain<Row<K>, Side = ()>,
    W: WindowKind,
{
    let mut watermark = Bounded::new(ticks(settings.delay));
    if let Some(max_ahead) = settings.max_ahead {
        watermark = watermark.max_ahead(ticks(max_ahead));
    }
    let (rows, rejected) = rows.watermark(watermark).with_rejected();
    let value = |row: &Row<K>| row.value;
    let numbers = (Sum::of(value), Count, Min::of(value), Max::of(value), Mean::of(value));
    let by_time = (First::of(value), Last::of(value), Collect::default());
    let windows = rows.key_by(|row| &row.key).window(windows).allowed_lateness(ticks(settings.lateness));
    let windows = match settings.emit {
        None => windows,
        Some(Early::OnUpdate) => windows.emit(Emit::on_update()),
        Some(Early::Every(step)) => windows.emit(Emit::every(ticks(step))),
    };
    let (panes, late) = windows.aggregate((numbers, by_time)).into_streams();
    (panes, late, rejected)
}

fn of_kind<K: Key, C: Chain<Row<K>, Side = ()>>(rows: Stream<Row<K>, C>, settings: Settings) -> Plain<K> {
    match settings.kind {
        Kind::Aligned { size, every, offset } if size == every => {
            windowed(rows, settings, Tumbling::new(ticks(size)).offset(ticks(offset)))
        }
        Kind::Aligned { size, every, offset } => {
            windowed(rows, settings, Sliding::new(ticks(size), ticks(every)).offset(ticks(offset)))
        }
        Kind::Session { gap } => windowed(rows, settings, Session::new(ticks(gap))),
        Kind::Global => windowed(rows, settings, Global::new()),
    }
}

fn unique<K: Key>(rows: Stream<Row<K>>, settings: Settings, ttl: i64) -> Unique<K> {
    let (rows, copies) = rows.dedup(|row| &row.id).ttl(ticks(ttl)).with_duplicates();
    let (panes, late, rejected) = of_kind(rows, settings);
    (panes, late, rejected, copies)
}

/// The pipeline under test, with a `dedup` or without.
enum Runtime<K: Key> {
    Plain(Pipeline<Row<K>, Plain<K>>),
    Unique(Pipeline<Row<K>, Unique<K>>),
}

/// All that one call brought about.
#[derive(Clone, Debug, PartialEq)]
struct Out<K> {
    fired: Vec<Fired<K>>,
    late: Vec<Late<Row<K>>>,
    rejected: Vec<Row<K>>,
    copies: Vec<Row<K>>,
}

impl<K> Default for Out<K> {
    fn default() -> Self {
        Out { fired: Vec::new(), late: Vec::new(), rejected: Vec::new(), copies: Vec::new() }
    }
}

impl<K: Key> Out<K> {
    fn new(
        panes: impl IntoIterator<Item = Pane<K, Values<K>>>,
        late: impl IntoIterator<Item = Late<Row<K>>>,
        rejected: impl IntoIterator<Item = Row<K>>,
        copies: impl IntoIterator<Item = Row<K>>,
    ) -> Self {
        let bounds = |window: &Window| (window.start.as_micros(), window.end.as_micros());
        let fired = panes.into_iter().map(|pane| Fired {
            window: bounds(&pane.window),
            timing: pane.timing(),
            update: pane.update(),
            replaces: pane.replaces().iter().map(bounds).collect(),
            key: pane.key,
            values: pane.value,
        });
        Out {
            fired: fired.collect(),
            late: late.into_iter().collect(),
            rejected: rejected.into_iter().collect(),
            copies: copies.into_iter().collect(),
        }
    }

    fn append(&mut self, mut other: Out<K>) {
        self.fired.append(&mut other.fired);
        self.late.append(&mut other.late);
        self.rejected.append(&mut other.rejected);
        self.copies.append(&mut other.copies);
    }

    /// What became of the one event that was pushed: one place, or counted.
    fn fate(&self) -> Fate {
        match (self.late.as_slice(), self.rejected.len(), self.copies.len()) {
            ([], 0, 0) => Fate::Counted,
            ([late], 0, 0) => Fate::Late(late.watermark.as_micros()),
            ([], 1, 0) => Fate::Rejected,
            ([], 0, 1) => Fate::Duplicate,
            _ => panic!("one event came out in several places: {self:?}"),
        }
    }

    /// The last values of each window, when results take the place of those that they replace.
    fn last(&self) -> BTreeMap<(K, (i64, i64)), Values<K>> {
        let mut last = BTreeMap::new();
        for fired in &self.fired {
            for replaced in &fired.replaces {
                last.remove(&(fired.key.clone(), *replaced));
            }
            last.insert((fired.key.clone(), fired.window), fired.values.clone());
        }
        last
    }
}

/// What a call of either pipeline gives.
macro_rules! out {
    ($runtime:expr, $pipeline:ident => $call:expr) => {
        match $runtime {
            Runtime::Plain($pipeline) => {
                let (panes, late, rejected) = $call.unwrap();
                Out::new(panes, late, rejected, [])
            }
            Runtime::Unique($pipeline) => {
                let (panes, late, rejected, copies) = $call.unwrap();
                Out::new(panes, late, rejected, copies)
            }
        }
    };
}

impl<K: Key> Runtime<K> {
    fn new(settings: Settings) -> Self {
        match settings.ttl {
            None => Runtime::Plain(Pipeline::try_new(|rows| of_kind(rows, settings)).unwrap()),
            Some(ttl) => Runtime::Unique(Pipeline::try_new(|rows| unique(rows, settings, ttl)).unwrap()),
        }
    }

    fn push(&mut self, row: &Row<K>) -> Out<K> {
        out!(self, pipeline => pipeline.push(row.clone()))
    }

    fn push_batch(&mut self, rows: &[Row<K>]) -> Out<K> {
        out!(self, pipeline => pipeline.push_batch(rows.to_vec()))
    }

    fn advance(&mut self, to: i64) -> Out<K> {
        out!(self, pipeline => pipeline.advance_to(Timestamp::from_micros(to)))
    }

    fn finish(self) -> Out<K> {
        out!(self, pipeline => pipeline.finish())
    }

    fn counters(&self) -> Counters {
        match self {
            Runtime::Plain(pipeline) => pipeline.counters(),
            Runtime::Unique(pipeline) => pipeline.counters(),
        }
    }
}

/// All that a run brought about.
#[derive(Clone, Debug)]
struct Run<K> {
    fates: Vec<Fate>,
    /// In order, the end included.
    out: Out<K>,
    /// Before the end.
    counters: Counters,
}

impl<K: Key> Run<K> {
    fn late(&self) -> usize {
        self.out.late.len()
    }
}

fn run<K: Key>(settings: Settings, rows: &[Row<K>]) -> Run<K> {
    run_advanced(settings, rows, None)
}

/// A run in which the watermark is moved by hand in front of one event.
fn run_advanced<K: Key>(settings: Settings, rows: &[Row<K>], advance: Option<(usize, i64)>) -> Run<K> {
    let mut runtime = Runtime::new(settings);
    let (mut fates, mut all) = (Vec::new(), Out::default());
    for (place, row) in rows.iter().enumerate() {
        if let Some((at, to)) = advance
            && at == place
        {
            all.append(runtime.advance(to));
        }
        let out = runtime.push(row);
        fates.push(out.fate());
        all.append(out);
    }
    let counters = runtime.counters();
    all.append(runtime.finish());
    Run { fates, out: all, counters }
}

/// Rows of small numbers, so that boundaries are met. The value is the place of the row.
fn rows(times: Range<i64>) -> impl Strategy<Value = Vec<Row<u8>>> {
    prop::collection::vec((0..12_u64, 0..3_u8, times), 0..40).prop_map(|rows| {
        let row = |(value, (id, key, ts))| Row { id, key, ts, value };
        (0..).zip(rows).map(row).collect()
    })
}

/// As `rows`, each with an id of its own.
fn distinct_rows(times: Range<i64>) -> impl Strategy<Value = Vec<Row<u8>>> {
    rows(times).prop_map(|rows| (0..).zip(rows).map(|(id, row)| Row { id, ..row }).collect())
}

fn with_keys<K>(rows: &[Row<u8>], key: impl Fn(u8) -> K) -> Vec<Row<K>> {
    rows.iter().map(|&Row { id, key: number, ts, value }| Row { id, key: key(number), ts, value }).collect()
}

fn kinds() -> impl Strategy<Value = Kind> {
    let aligned = (1..12_i64, 1..12_i64, 0..30_i64);
    prop_oneof![
        aligned.clone().prop_map(|(size, _, offset)| Kind::Aligned { size, every: size, offset }),
        aligned.prop_map(|(a, b, offset)| Kind::Aligned { size: a.max(b), every: a.min(b), offset }),
        (1..8_i64).prop_map(|gap| Kind::Session { gap }),
    ]
}

fn emits() -> impl Strategy<Value = Option<Early>> {
    let early = prop_oneof![Just(Early::OnUpdate), (1..15_i64).prop_map(Early::Every)];
    prop::option::of(early)
}

/// Without a `global` and early results.
fn settings() -> impl Strategy<Value = Settings> {
    let ttl = prop::option::of(1..20_i64);
    let max_ahead = prop::option::of(0..40_i64);
    (kinds(), 0..8_i64, 0..10_i64, ttl, max_ahead).prop_map(|(kind, delay, lateness, ttl, max_ahead)| {
        // A ttl below what the windows need is refused.
        let ttl = ttl.map(|ttl| match kind {
            Kind::Aligned { size, .. } => ttl.max(size + lateness),
            Kind::Session { .. } | Kind::Global => ttl,
        });
        Settings { kind, delay, lateness, emit: None, ttl, max_ahead }
    })
}

fn settings_with_early_results() -> impl Strategy<Value = Settings> {
    (settings(), emits(), 0..4).prop_map(|(settings, emit, kind)| match (kind, emit) {
        (0, Some(_)) => Settings { kind: Kind::Global, lateness: 0, emit, ..settings },
        _ => Settings { emit, ..settings },
    })
}

fn is_sliding(kind: Kind) -> bool {
    matches!(kind, Kind::Aligned { size, every, .. } if size != every)
}

/// The rows in another order, in which none lies more than `bound` behind the largest time in front of it: each is held
/// back for up to `bound` units of event time.
fn shuffled<K: Clone>(rows: &[Row<K>], bound: i64, holds: &[u8]) -> Vec<Row<K>> {
    let held = |(place, row): (usize, &Row<K>)| (row.ts + i64::from(holds[place % holds.len()]) % (bound + 1), place);
    let mut order: Vec<_> = rows.iter().enumerate().map(held).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, place)| rows[place].clone()).collect()
}

/// Each event is in one place, and those that are counted are in the last values of their windows: once, or for sliding
/// windows at least once.
fn accounted_for<K: Key>(settings: Settings, rows: &[Row<K>], run: &Run<K>) -> Result<(), TestCaseError> {
    let count = |is: fn(&Fate) -> bool| run.fates.iter().filter(|fate| is(fate)).count() as u64;
    prop_assert_eq!(run.counters.events_in(), rows.len() as u64);
    prop_assert_eq!(run.counters.late(), count(|fate| matches!(fate, Fate::Late(_))));
    prop_assert_eq!(run.counters.duplicates(), count(|fate| *fate == Fate::Duplicate));
    prop_assert_eq!(run.counters.rejected(), count(|fate| *fate == Fate::Rejected));
    let counted = rows.iter().zip(&run.fates).filter(|(_, fate)| **fate == Fate::Counted);
    let counted: Vec<_> = counted.map(|(row, _)| row.value).collect();
    let last = run.out.last();
    let mut in_results: Vec<_> = last.values().flat_map(|values| &values.1.2).map(|row| row.value).collect();
    in_results.sort_unstable();
    if is_sliding(settings.kind) {
        in_results.dedup();
    }
    prop_assert_eq!(in_results, counted);
    Ok(())
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

/// Event by event: the same results in the same order, the same fates, the same watermark, as much state.
fn same_as_the_model<K: Key>(
    settings: Settings,
    rows: &[Row<K>],
    advances: &BTreeMap<usize, i64>,
) -> Result<(), TestCaseError> {
    let (mut runtime, mut model) = (Runtime::new(settings), Model::new(settings));
    for (place, row) in rows.iter().enumerate() {
        if let Some(&to) = advances.get(&place) {
            prop_assert_eq!(runtime.advance(to).fired, model.advance(to), "to {} in front of {}", to, place);
        }
        let out = runtime.push(row);
        prop_assert_eq!(Step { fate: out.fate(), fired: out.fired }, model.push(row), "event {}", place);
        let counters = runtime.counters();
        prop_assert_eq!(counters.watermark().map(Timestamp::as_micros), model.watermark, "event {}", place);
        prop_assert_eq!(counters.partly_late(), model.partly_late, "event {}", place);
        let state = (counters.open_windows(), counters.ids());
        prop_assert_eq!(state, (model.open_windows() as u64, model.ids() as u64), "event {}", place);
    }
    prop_assert_eq!(runtime.finish().fired, model.finish());
    Ok(())
}

proptest! {
    #![proptest_config(config(1_000))]

    #[test]
    fn the_runtime_does_what_the_model_does(
        settings in settings_with_early_results(),
        rows in rows(-30..60),
        values in prop::collection::vec(-3..4_i64, 40),
        advances in prop::collection::btree_map(0..40_usize, -40..70_i64, 0..3),
        type_of_key in 0..3,
    ) {
        let rows: Vec<_> = rows.into_iter().zip(values).map(|(row, value)| Row { value, ..row }).collect();
        match type_of_key {
            0 => same_as_the_model(settings, &with_keys(&rows, |key| [7, u64::MAX, 0][usize::from(key)]), &advances)?,
            1 => same_as_the_model(settings, &with_keys(&rows, |key| ["b", "", "é"][usize::from(key)].to_owned()), &advances)?,
            _ => same_as_the_model(settings, &with_keys(&rows, |key| (["b", "ab", "b"][usize::from(key)].to_owned(), -i64::from(key))), &advances)?,
        }
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
        let settings = Settings { max_ahead: None, ..settings };
        let one = run(settings, &shuffled(&rows, settings.delay, &holds));
        let other = run(settings, &shuffled(&rows, settings.delay, &other_holds));
        prop_assert_eq!(&one.out, &other.out);
        prop_assert_eq!(one.late(), 0);
        prop_assert!(one.out.fired.iter().all(|fired| fired.update == 0));
    }

    #[test]
    fn within_delay_and_lateness_the_last_values_are_the_same(
        settings in settings_with_early_results(),
        rows in distinct_rows(-30..60),
        holds in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let settings = Settings { max_ahead: None, ..settings };
        let in_order = run(settings, &shuffled(&rows, 0, &[0]));
        let other = run(settings, &shuffled(&rows, settings.delay + settings.lateness, &holds));
        prop_assert_eq!(other.late(), 0);
        prop_assert_eq!(in_order.out.last(), other.out.last());
    }

    /// Early results change nothing but how many came before, and what the results of sessions replace.
    #[test]
    fn early_results_are_beside_the_others(
        settings in settings(),
        emit in emits().prop_filter("early", Option::is_some),
        rows in rows(-30..60),
    ) {
        let (plain, with_early) = (run(settings, &rows), run(Settings { emit, ..settings }, &rows));
        let essence = |run: &Run<u8>| -> Vec<_> {
            let results = run.out.fired.iter().filter(|fired| fired.timing != Timing::Early);
            results.map(|fired| (fired.key, fired.window, fired.values.clone(), fired.timing)).collect()
        };
        prop_assert_eq!(essence(&plain), essence(&with_early));
        prop_assert_eq!(plain.out.last(), with_early.out.last());
        prop_assert_eq!(&plain.fates, &with_early.fates);
        let counts = |run: &Run<u8>| (run.counters.late(), run.counters.partly_late(), run.counters.open_windows());
        prop_assert_eq!(counts(&plain), counts(&with_early));
        if matches!(settings.kind, Kind::Aligned { .. }) {
            let mut results = BTreeMap::new();
            for fired in &with_early.out.fired {
                let before = results.entry((fired.key, fired.window)).or_insert(0);
                prop_assert_eq!(fired.update, *before);
                *before += 1;
            }
        }
    }

    /// Within the delay, the results at the ends of windows do not depend on the order, though the early ones do.
    #[test]
    fn within_the_delay_order_changes_early_results_only(
        settings in settings_with_early_results(),
        rows in distinct_rows(-30..60),
        holds in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let settings = Settings { max_ahead: None, ..settings };
        let at_the_end = |rows: &[Row<u8>]| -> Vec<_> {
            let results = run(settings, rows).out.fired.into_iter().filter(|fired| fired.timing != Timing::Early);
            results.map(|fired| (fired.key, fired.window, fired.values, fired.timing)).collect()
        };
        let in_order = at_the_end(&shuffled(&rows, 0, &[0]));
        prop_assert_eq!(&in_order, &at_the_end(&shuffled(&rows, settings.delay, &holds)));
        prop_assert!(in_order.iter().all(|(.., timing)| *timing == Timing::OnTime));
    }

    /// Each event is counted, late, a duplicate or rejected: exactly one of them.
    #[test]
    fn no_event_is_lost(settings in settings_with_early_results(), rows in rows(-30..60)) {
        accounted_for(settings, &rows, &run(settings, &rows))?;
    }

    /// Copies anywhere within the ttl, whatever else they hold, change nothing but the number of duplicates.
    #[test]
    fn copies_change_nothing(
        settings in settings_with_early_results(),
        rows in distinct_rows(-30..60),
        holds in prop::collection::vec(any::<u8>(), 1..40),
        copies in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::option::of((-1_000..1_000_i64, 0..3_u8))),
            0..10,
        ),
    ) {
        let settings = Settings { ttl: Some(10_000), ..settings };
        let rows = shuffled(&rows, settings.delay + settings.lateness + 3, &holds);
        let once = run(settings, &rows);
        let remembered: Vec<_> =
            rows.iter().zip(&once.fates).filter(|(_, fate)| **fate != Fate::Rejected).map(|(row, _)| row).collect();
        prop_assume!(!remembered.is_empty());
        let mut with_copies = rows.clone();
        for (of, behind, other) in &copies {
            let mut copy = (*of.get(&remembered)).clone();
            let first = with_copies.iter().position(|row| row.id == copy.id).unwrap();
            if let Some((ts, key)) = *other {
                copy = Row { ts, key, value: 1_000, ..copy };
            }
            with_copies.insert(first + 1 + behind.index(with_copies.len() - first), copy);
        }
        let twice = run(settings, &with_copies);
        prop_assert_eq!(once.out.fired, twice.out.fired);
        prop_assert_eq!(once.out.late, twice.out.late);
        prop_assert_eq!(once.out.rejected, twice.out.rejected);
        prop_assert_eq!(twice.out.copies.len(), copies.len());
        prop_assert_eq!(twice.counters.duplicates(), copies.len() as u64);
    }

    /// A ttl of size plus lateness, which is the smallest, lets no copy be counted twice, wherever it comes.
    #[test]
    fn with_the_smallest_ttl_no_copy_counts_twice(settings in settings(), rows in rows(-30..60)) {
        let Kind::Aligned { size, .. } = settings.kind else { return Ok(()) };
        let settings = Settings { ttl: Some(size + settings.lateness), ..settings };
        // Copies are exact: an event's time and key follow from its id.
        let rows: Vec<_> = rows.iter().map(|row| {
            let first = rows.iter().find(|first| first.id == row.id).unwrap();
            Row { key: first.key, ts: first.ts, ..row.clone() }
        }).collect();
        let run = run(settings, &rows);
        let counted = rows.iter().zip(&run.fates).filter(|(_, fate)| **fate == Fate::Counted);
        let ids: Vec<_> = counted.map(|(row, _)| row.id).collect();
        prop_assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    }

    #[test]
    fn batches_change_nothing(
        settings in settings_with_early_results(),
        rows in rows(-30..60),
        sizes in prop::collection::vec(0..9_usize, 1..9),
    ) {
        prop_assume!(sizes.iter().any(|size| *size > 0));
        let mut runtime = Runtime::new(settings);
        let (mut out, mut rest) = (Out::default(), rows.as_slice());
        for size in sizes.iter().cycle() {
            let (batch, behind) = rest.split_at(rest.len().min(*size));
            out.append(runtime.push_batch(batch));
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        let counters = runtime.counters();
        out.append(runtime.finish());
        let one_by_one = run(settings, &rows);
        prop_assert_eq!(out, one_by_one.out);
        prop_assert_eq!(counters, one_by_one.counters);
    }

    /// When the watermark is past everything, nothing is kept.
    #[test]
    fn state_is_given_back(settings in settings(), rows in rows(-30..60)) {
        let mut runtime = Runtime::new(settings);
        for row in &rows {
            runtime.push(row);
        }
        runtime.advance(1_000);
        let counters = runtime.counters();
        prop_assert_eq!((counters.open_windows(), counters.ids()), (0, 0));
        let out = runtime.finish();
        prop_assert_eq!(out, Out::default());
    }

    /// Moving the watermark early makes events late, and changes nothing that has fired.
    #[test]
    fn advancing_early_only_makes_events_late(
        settings in settings_with_early_results(),
        rows in distinct_rows(-30..60),
        place in 0..40_usize,
        to in -40..70_i64,
    ) {
        let plain = run(settings, &rows);
        let before = run(settings, &rows[..place.min(rows.len())]);
        let advanced = run_advanced(settings, &rows, Some((place, to)));
        if place >= rows.len() || before.counters.watermark() >= Some(Timestamp::from_micros(to)) {
            prop_assert_eq!(&advanced.out, &plain.out);
        }
        let fired_before: Vec<_> = {
            let mut runtime = Runtime::new(settings);
            rows.iter().take(place).flat_map(|row| runtime.push(row).fired).collect()
        };
        prop_assert_eq!(&advanced.out.fired[..fired_before.len()], fired_before.as_slice());
        let places = |run: &Run<u8>, is: fn(&Fate) -> bool| -> BTreeSet<usize> {
            run.fates.iter().enumerate().filter(|(_, fate)| is(fate)).map(|(place, _)| place).collect()
        };
        let is_late = |fate: &Fate| matches!(fate, Fate::Late(_));
        prop_assert!(places(&plain, is_late).is_subset(&places(&advanced, is_late)));
        let is_rejected = |fate: &Fate| *fate == Fate::Rejected;
        prop_assert_eq!(places(&plain, is_rejected), places(&advanced, is_rejected));
        accounted_for(settings, &rows, &advanced)?;
    }

    /// Whatever the windows over results are, an event is rejected in front rather than a result lost behind.
    #[test]
    fn windows_over_results_reject_in_front_what_they_cannot_hold(
        inner in prop_oneof![1 => kinds(), 1 => long_kinds()],
        outer in prop_oneof![1 => kinds(), 1 => long_kinds()],
        times in prop::collection::vec(any_time(), 0..30),
        delay in prop_oneof![0..10_i64, Just(i64::MAX)],
    ) {
        let build = |rows: Stream<Row<u8>>| {
            let (rows, rejected) = rows.watermark(Bounded::new(ticks(delay))).with_rejected();
            let (results, late) = counts_by_kind(rows.into_streams(), inner, |row| &row.key);
            let (results, late_results) = counts_by_kind(results, outer, |pane| &pane.key);
            (results, rejected, late, late_results)
        };
        let mut pipeline = Pipeline::try_new(build).unwrap();
        let (mut taken, mut panes, mut late_panes) = (0, Vec::new(), Vec::new());
        for &ts in &times {
            let (results, rejected, late, late_results) = pipeline.push(Row { id: 0, key: 0, ts, value: 0 }).unwrap();
            taken += 1 - rejected.count() - late.count();
            panes.extend(results);
            late_panes.extend(late_results);
        }
        let (results, _, _, late_results) = pipeline.finish().unwrap();
        panes.extend(results);
        late_panes.extend(late_results);
        prop_assert_eq!(taken == 0, panes.is_empty() && late_panes.is_empty());
    }

    /// Times over the whole range neither panic nor lose an event.
    #[test]
    fn any_times_are_accounted_for(
        kind in prop_oneof![1 => kinds(), 1 => long_kinds()],
        times in prop::collection::vec((0..8_u64, any_time()), 0..30),
        delay in prop_oneof![0..10_i64, Just(i64::MAX)],
        lateness in prop_oneof![0..10_i64, Just(i64::MAX)],
        emit in emits(),
        max_ahead in prop::option::of(prop_oneof![0..10_i64, any_time().prop_map(|time| time.saturating_abs())]),
        with_dedup: bool,
        advance in prop::option::of((0..30_usize, any_time())),
    ) {
        let ttl = with_dedup.then_some(i64::MAX);
        let settings = Settings { kind, delay, lateness, emit, ttl, max_ahead };
        let rows: Vec<_> = (0..).zip(times).map(|(value, (id, ts))| Row { id, key: 0_u8, ts, value }).collect();
        accounted_for(settings, &rows, &run_advanced(settings, &rows, advance))?;
    }
}

/// Sums, counts and means of sliding windows beside something that cannot be taken out again, or alone: then by slices.
fn sliding(rows: Stream<Row<u8>>, settings: Settings, by_slices: bool) -> (Panes3, Stream<Late<Row<u8>>>) {
    let Kind::Aligned { size, every, offset } = settings.kind else { panic!("not sliding: {settings:?}") };
    let value = |row: &Row<u8>| row.value;
    let numbers = (Sum::of(value), Count, Mean::of(value));
    let windows = rows.watermark(Bounded::new(ticks(settings.delay))).key_by(|row| &row.key);
    let windows = windows.window(Sliding::new(ticks(size), ticks(every)).offset(ticks(offset)));
    let windows = windows.allowed_lateness(ticks(settings.lateness));
    if by_slices {
        return windows.aggregate(numbers).into_streams();
    }
    windows.aggregate_with(|of| of.map((numbers, of.max(|row| row.value)), |(numbers, _)| numbers)).into_streams()
}

type Panes3 = Stream<Pane<u8, (i64, u64, f64)>>;

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn slices_give_what_each_window_for_itself_gives(
        kind in (1..24_i64, 1..12_i64, 0..30_i64),
        (delay, lateness) in (0..8_i64, prop_oneof![Just(0), 0..30_i64]),
        rows in rows(-30..60),
        jump in (0..40_usize, -30..80_i64),
    ) {
        let (a, b, offset) = kind;
        let kind = Kind::Aligned { size: a.max(b), every: a.min(b), offset };
        let settings = Settings { kind, delay, lateness, emit: None, ttl: None, max_ahead: None };
        let mut slices = Pipeline::new(|rows| sliding(rows, settings, true));
        let mut windows = Pipeline::new(|rows| sliding(rows, settings, false));
        let open = |counters: Counters| counters.open_windows();
        for (place, row) in rows.into_iter().enumerate() {
            if place == jump.0 {
                let to = Timestamp::from_micros(jump.1);
                let [ours, theirs] = [slices.advance_to(to).unwrap(), windows.advance_to(to).unwrap()];
                prop_assert_eq!(ours.0.collect::<Vec<_>>(), theirs.0.collect::<Vec<_>>());
            }
            let [ours, theirs] = [slices.push(row.clone()).unwrap(), windows.push(row).unwrap()];
            prop_assert_eq!(ours.0.collect::<Vec<_>>(), theirs.0.collect::<Vec<_>>());
            prop_assert_eq!(ours.1.collect::<Vec<_>>(), theirs.1.collect::<Vec<_>>());
            prop_assert_eq!(open(slices.counters()), open(windows.counters()));
        }
        let [ours, theirs] = [slices.finish().unwrap(), windows.finish().unwrap()];
        prop_assert_eq!(ours.0, theirs.0);
    }
}

/// Counts, and late events.
fn counts_by_kind<T: Data>(
    events: Stream<T>,
    kind: Kind,
    key: fn(&T) -> &u8,
) -> (Stream<Pane<u8, u64>>, Stream<Late<T>>) {
    let keyed = events.key_by(key);
    match kind {
        Kind::Aligned { size, every, offset } => {
            keyed.window(Sliding::new(ticks(size), ticks(every)).offset(ticks(offset))).count().into_streams()
        }
        Kind::Session { gap } => keyed.window(Session::new(ticks(gap))).count().into_streams(),
        Kind::Global => keyed.window(Global::new()).emit(Emit::on_update()).count().into_streams(),
    }
}

fn any_time() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), i64::MIN..i64::MIN + 30, i64::MAX - 30..=i64::MAX, -30..30_i64]
}

/// Windows of the order of the whole range.
fn long_kinds() -> impl Strategy<Value = Kind> {
    let long = prop_oneof![i64::MAX - 30..=i64::MAX, (1_i64 << 61)..=i64::MAX];
    (long, 0..=i64::MAX, 0..3).prop_map(|(size, offset, kind)| match kind {
        0 => Kind::Aligned { size, every: size, offset },
        1 => Kind::Aligned { size, every: size / 7, offset },
        _ => Kind::Session { gap: size },
    })
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
        values in prop::collection::vec((0..12_i64, any::<f64>().prop_filter("finite", |value| value.is_finite())), 1..20),
        seed in any::<u64>(),
    ) {
        let values: Vec<Sample> = values.into_iter().map(|(ts, value)| Sample { ts, value }).collect();
        let mut other = values.clone();
        other.sort_by_key(|sample| (sample.value.to_bits() ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let one_window = Tumbling::new(secs(1));
        prop_assert_eq!(aggregated(&values, one_window.clone()), aggregated(&other, one_window));
        // Sessions are merged in the order in which events join them.
        let sessions = Session::new(micros(2));
        prop_assert_eq!(aggregated(&values, sessions.clone()), aggregated(&other, sessions));
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Sample {
    #[event(time, unit = "us")]
    ts: i64,
    value: f64,
}

/// Each aggregate of each window, as bits.
fn aggregated(samples: &[Sample], windows: impl WindowKind) -> Vec<[u64; 6]> {
    let build = |source: Stream<Sample>| {
        let value = |sample: &Sample| sample.value;
        let windows = source.watermark(Bounded::new(secs(1))).key_by_owned(|_| 0_u8).window(windows);
        let aggregates =
            (Sum::of(value), Min::of(value), Max::of(value), Mean::of(value), First::of(value), Last::of(value));
        windows.discard_late().aggregate(aggregates).into_streams()
    };
    let mut pipeline = Pipeline::new(build);
    assert_eq!(pipeline.push_batch(samples.to_vec()).unwrap().count(), 0);
    let panes = pipeline.finish().unwrap().into_iter();
    panes.map(|pane| <[f64; 6]>::from(pane.value).map(f64::to_bits)).collect()
}
