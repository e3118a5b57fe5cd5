//! Vectors from Apache Flink: see `vectors/conformance/README.md`.

use std::collections::BTreeMap;
use std::time::Duration;

use ministream::Chain;
use ministream::prelude::*;
use ministream::window::WindowKind;
use serde::{Deserialize, Serialize};

use super::{Outcome, Report, files, listed, same};

#[derive(Deserialize)]
struct Case {
    name: String,
    same_final_as: Option<String>,
    pipeline: Spec,
    events: Vec<Row>,
    expected: Expected,
}

#[derive(Clone, Deserialize)]
struct Spec {
    dedup: String,
    window: WindowSpec,
    delay_ms: u64,
    lateness_ms: u64,
}

#[derive(Clone, Deserialize)]
struct WindowSpec {
    #[serde(rename = "type")]
    kind: String,
    size_ms: Option<u64>,
    slide_ms: Option<u64>,
    gap_ms: Option<u64>,
    #[serde(default)]
    offset_ms: i64,
}

/// One unit of the file's time is one tick of a timestamp.
#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Row {
    id: i64,
    key: String,
    #[event(time, unit = "us")]
    ts: i64,
    value: i64,
    /// Its position among the events.
    #[serde(default)]
    index: usize,
}

#[derive(Deserialize)]
struct Expected {
    watermarks: Vec<i64>,
    emissions: Vec<Emission>,
    late: Vec<LateRow>,
    deduplicated: Vec<usize>,
    #[serde(rename = "final")]
    last: Vec<Final>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Emission {
    after_event: i64,
    cause: String,
    watermark: i64,
    key: String,
    start: i64,
    end: i64,
    sum: i64,
    count: u64,
    min: i64,
    max: i64,
    avg: f64,
    is_update: bool,
    replaces: Vec<(i64, i64)>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct LateRow {
    event: usize,
    id: i64,
    key: String,
    ts: i64,
    value: i64,
    watermark: i64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Final {
    key: String,
    start: i64,
    end: i64,
    sum: i64,
    count: u64,
    min: i64,
    max: i64,
}

type Values = (i64, u64, i64, i64, f64);
/// Results, late events, and what was dropped: the copies, or without a `dedup` what is rejected.
type Totals = (Stream<Pane<String, Values>>, Stream<Late<Row>>, Stream<Row>);

fn totals(source: Stream<Row>, spec: &Spec, windows: impl WindowKind) -> Totals {
    let watermark = Bounded::new(micros(spec.delay_ms));
    if spec.dedup == "id" {
        let (unique, copies) = source.dedup(|row| &row.id).ttl(Duration::MAX).with_duplicates();
        let (panes, late) = windowed(unique.watermark(watermark), spec, windows);
        (panes, late, copies)
    } else {
        let (events, rejected) = source.watermark(watermark).with_rejected();
        let (panes, late) = windowed(events, spec, windows);
        (panes, late, rejected)
    }
}

fn windowed<C: Chain<Row, Side = ()>>(
    events: Stream<Row, C>,
    spec: &Spec,
    windows: impl WindowKind,
) -> (Stream<Pane<String, Values>>, Stream<Late<Row>>) {
    let value = |row: &Row| row.value;
    events
        .key_by(|row| &row.key)
        .window(windows)
        .allowed_lateness(micros(spec.lateness_ms))
        .aggregate((Sum::of(value), Count, Min::of(value), Max::of(value), Mean::of(value)))
        .into_streams()
}

fn pipeline(spec: &Spec) -> Result<Pipeline<Row, Totals>, String> {
    if !["none", "id"].contains(&spec.dedup.as_str()) {
        return Err(format!("  unknown dedup {}", spec.dedup));
    }
    let window = &spec.window;
    let required = |value: Option<u64>, what: &str| value.map(micros).ok_or(format!("  the window has no {what}"));
    // An offset before the epoch is one behind it: windows repeat.
    let offset = |every: Duration| {
        let every = i64::try_from(every.as_micros()).unwrap_or(i64::MAX).max(1);
        micros(window.offset_ms.rem_euclid(every).unsigned_abs())
    };
    let built = match window.kind.as_str() {
        "tumbling" => {
            let size = required(window.size_ms, "size")?;
            Pipeline::try_new(|rows| totals(rows, spec, Tumbling::new(size).offset(offset(size))))
        }
        "sliding" => {
            let (size, every) = (required(window.size_ms, "size")?, required(window.slide_ms, "slide")?);
            Pipeline::try_new(|rows| totals(rows, spec, Sliding::new(size, every).offset(offset(every))))
        }
        "session" => {
            let gap = required(window.gap_ms, "gap")?;
            Pipeline::try_new(|rows| totals(rows, spec, Session::new(gap)))
        }
        other => return Err(format!("  unknown window {other}")),
    };
    built.map_err(|error| format!("  {error}"))
}

#[derive(Default)]
struct Got {
    watermarks: Vec<i64>,
    emissions: Vec<Emission>,
    late: Vec<LateRow>,
    deduplicated: Vec<usize>,
}

impl Got {
    fn take(
        &mut self,
        (after_event, cause, watermark): (i64, &str, i64),
        panes: impl IntoIterator<Item = Pane<String, Values>>,
        late: impl IntoIterator<Item = Late<Row>>,
        copies: impl IntoIterator<Item = Row>,
    ) {
        self.emissions.extend(panes.into_iter().map(|pane| {
            let (sum, count, min, max, avg) = pane.value;
            let bounds = |window: &Window| (window.start.as_micros(), window.end.as_micros());
            let (start, end) = bounds(&pane.window);
            let replaces = pane.replaces().iter().map(bounds).collect();
            let (is_update, cause) = (pane.is_update(), cause.to_owned());
            let key = pane.key;
            Emission { after_event, cause, watermark, key, start, end, sum, count, min, max, avg, is_update, replaces }
        }));
        self.late.extend(late.into_iter().map(|late| {
            let Row { id, key, ts, value, index } = late.event;
            LateRow { event: index, id, key, ts, value, watermark: late.watermark.as_micros() }
        }));
        self.deduplicated.extend(copies.into_iter().map(|copy| copy.index));
    }

    /// What is left when each result takes the place of the earlier ones.
    fn last(&self) -> Vec<Final> {
        let mut last = BTreeMap::new();
        for emission in &self.emissions {
            for &(start, end) in &emission.replaces {
                last.remove(&(end, start, emission.key.clone()));
            }
            let Emission { key, start, end, sum, count, min, max, .. } = emission.clone();
            last.insert((end, start, key.clone()), Final { key, start, end, sum, count, min, max });
        }
        last.into_values().collect()
    }
}

fn run(spec: &Spec, events: &[Row]) -> Result<Got, String> {
    let mut pipeline = pipeline(spec)?;
    let mut got = Got::default();
    for row in events {
        let before = pipeline.watermark();
        let (panes, late, copies) = pipeline.push(row.clone()).map_err(|error| format!("  {error}"))?;
        let (panes, late, copies): (Vec<_>, Vec<_>, Vec<_>) = (panes.collect(), late.collect(), copies.collect());
        let watermark = pipeline.watermark();
        let cause = if before == watermark { "late_event" } else { "watermark" };
        let watermark = watermark.map_or(i64::MIN, Timestamp::as_micros);
        got.take((row.index as i64, cause, watermark), panes, late, copies);
        got.watermarks.push(watermark);
    }
    let (panes, late, copies) = pipeline.finish().map_err(|error| format!("  {error}"))?;
    got.take((-1, "end_of_input", i64::MAX), panes, late, copies);
    Ok(got)
}

/// The same in batches, even ones and uneven ones: the outputs in the same order.
fn same_in_batches(spec: &Spec, events: &[Row], one_by_one: &Got) -> Result<(), String> {
    for sizes in [&[2][..], &[3], &[7], &[1, 4, 0, 2, 9, 3], &[5, 1, 1], &[events.len().max(1)]] {
        let mut pipeline = pipeline(spec)?;
        let mut got = Got::default();
        let (mut rest, mut sizes_left) = (events, sizes.iter().cycle());
        while let (false, Some(size)) = (rest.is_empty(), sizes_left.next()) {
            let (batch, behind) = rest.split_at(rest.len().min(*size));
            let (panes, late, copies) = pipeline.push_batch(batch.to_vec()).map_err(|error| format!("  {error}"))?;
            got.take((0, "", 0), panes, late, copies);
            rest = behind;
        }
        let (panes, late, copies) = pipeline.finish().map_err(|error| format!("  {error}"))?;
        got.take((0, "", 0), panes, late, copies);
        let mut expected = one_by_one.emissions.clone();
        for emission in &mut expected {
            (emission.after_event, emission.cause, emission.watermark) = (0, String::new(), 0);
        }
        same(&format!("in batches of {sizes:?}, emission"), &got.emissions, &expected)?;
        same(&format!("in batches of {sizes:?}, late"), &got.late, &one_by_one.late)?;
        same(&format!("in batches of {sizes:?}, duplicate"), &got.deduplicated, &one_by_one.deduplicated)?;
    }
    Ok(())
}

fn check(case: &Case) -> Result<(), String> {
    let events: Vec<Row> = case.events.iter().enumerate().map(|(index, row)| Row { index, ..row.clone() }).collect();
    let got = run(&case.pipeline, &events)?;
    let Expected { watermarks, emissions, late, deduplicated, last } = &case.expected;
    same("watermark", &got.watermarks, watermarks)?;
    same("emission", &got.emissions, emissions)?;
    same("late", &got.late, late)?;
    same("duplicate", &got.deduplicated, deduplicated)?;
    same("final", &got.last(), last)?;
    same_in_batches(&case.pipeline, &events, &got)
}

#[test]
fn conformance() {
    let mut report = Report::default();
    for (path, file) in files("MINISTREAM_CONFORMANCE", "conformance") {
        let mut cases = Vec::new();
        for case in listed(&path, file, &mut report) {
            let name = case["name"].as_str().unwrap_or("a case without a name").to_owned();
            match serde_json::from_value::<Case>(case) {
                Ok(case) => cases.push(case),
                Err(error) => report.run(&name, || Outcome::Failed(format!("  not readable: {error}"))),
            }
        }
        for case in &cases {
            report.run(&case.name, || match check(case).and_then(|()| check_same_final(case, &cases)) {
                Ok(()) => Outcome::Passed,
                Err(difference) => Outcome::Failed(difference),
            });
        }
    }
    report.close("conformance");
}

/// The cases of a file may promise that they end in the same values.
fn check_same_final(case: &Case, cases: &[Case]) -> Result<(), String> {
    let Some(name) = &case.same_final_as else { return Ok(()) };
    let other = cases.iter().find(|case| case.name == *name).ok_or(format!("  there is no case {name}"))?;
    same(&format!("final value (the same as in {name})"), &case.expected.last, &other.expected.last)
}
