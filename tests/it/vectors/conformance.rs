//! Vectors from Apache Flink: see `vectors/conformance/README.md`.

use std::collections::BTreeMap;
use std::time::Duration;

use ministream::prelude::*;
use ministream::window::WindowKind;
use serde::{Deserialize, Serialize};

use super::{Outcome, Report, files, same};

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
type Totals = (Stream<Pane<String, Values>>, Stream<Late<Row>>, Stream<Row>);

fn totals(source: Stream<Row>, spec: &Spec, windows: impl WindowKind) -> Totals {
    let by_id = spec.dedup == "id";
    let (unique, copies) = source
        .dedup_owned(move |row| if by_id { row.id } else { row.index as i64 })
        .ttl(Duration::MAX)
        .with_duplicates();
    let value = |row: &Row| row.value;
    let (panes, late) = unique
        .watermark(Bounded::new(micros(spec.delay_ms)))
        .key_by(|row| &row.key)
        .window(windows)
        .allowed_lateness(micros(spec.lateness_ms))
        .aggregate((Sum::of(value), Count, Min::of(value), Max::of(value), Mean::of(value)))
        .into_streams();
    (panes, late, copies)
}

fn pipeline(spec: &Spec) -> Result<Pipeline<Row, Totals>, String> {
    let window = &spec.window;
    let required = |value: Option<u64>, what: &str| value.map(micros).ok_or(format!("  the window has no {what}"));
    // An offset before the epoch is one behind it: windows repeat.
    let offset = |every: Duration| {
        micros(window.offset_ms.rem_euclid(i64::try_from(every.as_micros()).unwrap_or(i64::MAX)) as u64)
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

/// The same in batches: the outputs in the same order.
fn same_in_batches(spec: &Spec, events: &[Row], one_by_one: &Got) -> Result<(), String> {
    for size in [2, 3, 7, events.len().max(1)] {
        let mut pipeline = pipeline(spec)?;
        let mut got = Got::default();
        for batch in events.chunks(size) {
            let (panes, late, copies) = pipeline.push_batch(batch.to_vec()).map_err(|error| format!("  {error}"))?;
            got.take((0, "", 0), panes, late, copies);
        }
        let (panes, late, copies) = pipeline.finish().map_err(|error| format!("  {error}"))?;
        got.take((0, "", 0), panes, late, copies);
        let mut expected = one_by_one.emissions.clone();
        for emission in &mut expected {
            (emission.after_event, emission.cause, emission.watermark) = (0, String::new(), 0);
        }
        same(&format!("in batches of {size}, emission"), &got.emissions, &expected)?;
        same(&format!("in batches of {size}, late"), &got.late, &one_by_one.late)?;
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
        let cases = file.and_then(|mut file| {
            serde_json::from_value::<Vec<Case>>(file["cases"].take()).map_err(|error| error.to_string())
        });
        let cases = match cases {
            Ok(cases) => cases,
            Err(error) => {
                report.run(&path.display().to_string(), || Outcome::Failed(format!("  not readable: {error}")));
                continue;
            }
        };
        for case in &cases {
            report.run(&case.name, || match check(case) {
                Ok(()) => Outcome::Passed,
                Err(difference) => Outcome::Failed(difference),
            });
            if let Some(other) = &case.same_final_as {
                let name = format!("{} (the same final values as {other})", case.name);
                let other = cases.iter().find(|case| case.name == *other);
                if !other.is_some_and(|other| other.expected.last == case.expected.last) {
                    report.run(&name, || Outcome::Failed("  they differ".to_owned()));
                }
            }
        }
    }
    report.close("conformance");
}
