//! Cases from faults that were reported of such systems: see `vectors/cases/README.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::time::{Duration, Instant};

use ministream::Counters;
use ministream::connector::SourceError;
use ministream::connectors::{Csv, JsonLines};
use ministream::error::Failure;
use ministream::prelude::*;
use ministream::window::WindowKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::compile::{Program, compile};
use super::{Outcome, Report, files, listed, same};

#[derive(Deserialize)]
struct Case {
    name: String,
    pipeline: Option<String>,
    spec: Option<Spec>,
    #[serde(default)]
    events: Vec<Row>,
    flush: Option<bool>,
    #[serde(default)]
    actions: Vec<Value>,
    backend: Option<String>,
    #[serde(default)]
    permutations: Vec<Vec<usize>>,
    raw: Option<Raw>,
    generator: Option<Generator>,
    #[serde(default)]
    bad_pipelines: Vec<BadPipeline>,
    restore_into: Option<Value>,
    time_limit_ms: Option<u64>,
    expected: Expected,
}

#[derive(Clone, Deserialize)]
struct Spec {
    #[serde(rename = "type")]
    kind: String,
    size: Option<i64>,
    slide: Option<i64>,
    gap: Option<i64>,
    #[serde(default)]
    offset: i64,
    #[serde(default)]
    delay: i64,
    #[serde(default)]
    lateness: i64,
    dedup_ttl: Option<i64>,
    max_ahead: Option<i64>,
}

/// One unit of the file's time is one tick of a timestamp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Event)]
struct Row {
    event_id: String,
    user: String,
    #[event(time, unit = "us")]
    ts: i64,
    value: i64,
    /// Its position among the events as listed.
    #[serde(skip)]
    index: usize,
}

#[derive(Deserialize)]
struct Raw {
    format: String,
    text: String,
}

#[derive(Deserialize)]
struct Generator {
    count: usize,
    event_id: Value,
    user: Value,
    ts: Value,
    value: Value,
}

#[derive(Deserialize)]
pub(super) struct BadPipeline {
    text: String,
    points_at: String,
    #[serde(default)]
    error: String,
}

#[derive(Deserialize)]
struct Expected {
    emissions: Option<Vec<Emission>>,
    #[serde(default)]
    late: Vec<usize>,
    #[serde(default)]
    dropped_duplicates: Vec<usize>,
    #[serde(default)]
    rejected: Vec<usize>,
    #[serde(default)]
    bad_lines: Vec<u64>,
    error: Option<String>,
    behaviour: Option<String>,
}

/// The position of the event that brought it about; None at the end of the input.
type After = Option<usize>;

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Emission {
    #[serde(deserialize_with = "after_event")]
    after_event: After,
    key: String,
    start: i64,
    end: i64,
    value: i64,
    is_update: bool,
}

fn after_event<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<After, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(end) if end == "end" => Ok(None),
        Value::Number(number) => Ok(number.as_u64().and_then(|number| usize::try_from(number).ok())),
        other => Err(serde::de::Error::custom(format!("no event: {other}"))),
    }
}

type Sums = (Stream<Pane<String, i64>>, Stream<Late<Row>>, Stream<Row>, Stream<Row>);

fn ticks(count: i64) -> Duration {
    micros(u64::try_from(count).unwrap_or_default())
}

fn sums(source: Stream<Row>, spec: &Spec, windows: impl WindowKind) -> Sums {
    let mut unique = source.dedup(|row| &row.event_id);
    if let Some(ttl) = spec.dedup_ttl {
        unique = unique.ttl(ticks(ttl));
    } else if spec.kind == "session" {
        unique = unique.ttl(Duration::MAX);
    }
    let (unique, copies) = unique.with_duplicates();
    let mut watermark = Bounded::new(ticks(spec.delay));
    if let Some(max_ahead) = spec.max_ahead {
        watermark = watermark.max_ahead(ticks(max_ahead));
    }
    let (unique, rejected) = unique.watermark(watermark).with_rejected();
    let windows = unique.key_by(|row| &row.user).window(windows).allowed_lateness(ticks(spec.lateness));
    let (panes, late) = windows.sum(|row| row.value).into_streams();
    (panes, late, copies, rejected)
}

fn pipeline(spec: &Spec) -> Result<Pipeline<Row, Sums>, String> {
    for (name, value) in [("delay", spec.delay), ("lateness", spec.lateness)] {
        if value < 0 {
            return Err(format!("{name} is negative, which no `Duration` is"));
        }
    }
    let offset = |every: Duration| {
        let every = i64::try_from(every.as_micros()).unwrap_or(i64::MAX).max(1);
        ticks(spec.offset.rem_euclid(every))
    };
    let built = match spec.kind.as_str() {
        "tumbling" => {
            let size = ticks(spec.size.ok_or("no size")?);
            Pipeline::try_new(|rows| sums(rows, spec, Tumbling::new(size).offset(offset(size))))
        }
        "sliding" => {
            let (size, every) = (ticks(spec.size.ok_or("no size")?), ticks(spec.slide.ok_or("no slide")?));
            Pipeline::try_new(|rows| sums(rows, spec, Sliding::new(size, every).offset(offset(every))))
        }
        "session" => {
            let gap = ticks(spec.gap.ok_or("no gap")?);
            Pipeline::try_new(|rows| sums(rows, spec, Session::new(gap)))
        }
        other => return Err(format!("unknown window {other}")),
    };
    built.map_err(|error| error.to_string())
}

/// All that a run brought about.
#[derive(Clone, Debug, Default)]
struct Got {
    emissions: Vec<Emission>,
    late: Vec<usize>,
    duplicates: Vec<usize>,
    rejected: Vec<usize>,
    failures: Vec<Failure>,
    /// Before the end of the input.
    open_windows: u64,
    ids: u64,
}

impl Got {
    fn take(
        &mut self,
        after_event: After,
        panes: impl IntoIterator<Item = Pane<String, i64>>,
        late: impl IntoIterator<Item = Late<Row>>,
        copies: impl IntoIterator<Item = Row>,
        rejected: impl IntoIterator<Item = Row>,
    ) {
        self.emissions.extend(panes.into_iter().map(|pane| Emission {
            after_event,
            start: pane.window.start.as_micros(),
            end: pane.window.end.as_micros(),
            value: pane.value,
            is_update: pane.is_update(),
            key: pane.key,
        }));
        self.late.extend(late.into_iter().map(|late| late.event.index));
        self.duplicates.extend(copies.into_iter().map(|row| row.index));
        self.rejected.extend(rejected.into_iter().map(|row| row.index));
    }

    /// The results without what brought them about, which another order changes.
    fn results(&self) -> Vec<Emission> {
        self.emissions.iter().map(|emission| Emission { after_event: None, ..emission.clone() }).collect()
    }
}

fn run(spec: &Spec, events: impl IntoIterator<Item = Row>, flush: bool) -> Result<Got, String> {
    let mut pipeline = pipeline(spec)?;
    let mut got = Got::default();
    for (position, row) in events.into_iter().enumerate() {
        let failed = match pipeline.push(row) {
            Ok((panes, late, copies, rejected)) => {
                got.take(Some(position), panes, late, copies, rejected);
                continue;
            }
            Err(error) => error,
        };
        got.failures.extend_from_slice(failed.failures());
        let (panes, late, copies, rejected) = pipeline.drain();
        got.take(Some(position), panes, late, copies, rejected);
    }
    let counters = pipeline.counters();
    (got.open_windows, got.ids) = (counters.open_windows(), counters.ids());
    if flush {
        let (panes, late, copies, rejected) = match pipeline.finish() {
            Ok(results) => results,
            Err(error) => {
                got.failures.extend_from_slice(error.error().failures());
                error.into_results()
            }
        };
        got.take(None, panes, late, copies, rejected);
    }
    Ok(got)
}

fn check_emissions(case: &Case, spec: &Spec, emissions: &[Emission]) -> Result<(), String> {
    let flush = case.flush.unwrap_or(true);
    let events = indexed(&case.events);
    let got = run(spec, events.clone(), flush)?;
    if let Some(failure) = got.failures.first() {
        return Err(format!("  {failure}"));
    }
    let Expected { late, dropped_duplicates, rejected, .. } = &case.expected;
    same("emission", &got.emissions, emissions)?;
    same("late", &got.late, late)?;
    same("duplicate", &got.duplicates, dropped_duplicates)?;
    same("rejected", &got.rejected, rejected)?;
    every_event_is_somewhere(spec, &got, &events, flush)?;
    for order in &case.permutations {
        let shuffled: Vec<Row> = order.iter().map(|&index| events[index].clone()).collect();
        let other = run(spec, shuffled, flush)?;
        same(&format!("in the order {order:?}, emission"), &other.results(), &got.results())?;
        same("late in that order", &other.late, &[])?;
        same("number of duplicates in that order", &[other.duplicates.len()], &[got.duplicates.len()])?;
    }
    Ok(())
}

/// An event is late, a duplicate, rejected or counted. Where windows do not overlap or grow, the last results hold the
/// values of those that are counted, each once.
fn every_event_is_somewhere(spec: &Spec, got: &Got, events: &[Row], flush: bool) -> Result<(), String> {
    let gone: BTreeSet<_> = got.late.iter().chain(&got.duplicates).chain(&got.rejected).collect();
    if gone.len() != got.late.len() + got.duplicates.len() + got.rejected.len() {
        return Err("  an event is two of late, a duplicate and rejected".to_owned());
    }
    if !flush || spec.kind != "tumbling" {
        return Ok(());
    }
    let counted = events.iter().filter(|row| !gone.contains(&row.index)).map(|row| i128::from(row.value));
    let last = got.emissions.iter().map(|emission| ((&emission.key, emission.start), i128::from(emission.value)));
    let last: BTreeMap<_, _> = last.collect();
    same("sum of all results", &[last.values().sum::<i128>()], &[counted.sum()])
}

/// An exact copy directly behind an event is one more duplicate and nothing else, unless the id is forgotten already, or
/// the event is rejected.
fn copies_change_nothing(case: &Case) -> Result<(), String> {
    let (Some(spec), Some(_)) = (&case.spec, &case.expected.emissions) else { return Ok(()) };
    let (events, flush) = (indexed(&case.events), case.flush.unwrap_or(true));
    let got = run(spec, events.clone(), flush)?;
    let ttl =
        spec.dedup_ttl.or(spec.size.filter(|_| spec.kind != "session").map(|size| size.saturating_add(spec.lateness)));
    let mut largest = None;
    for (index, row) in events.iter().enumerate() {
        if got.rejected.contains(&index) {
            continue;
        }
        if !got.duplicates.contains(&index) {
            largest = largest.max(Some(row.ts));
        }
        // The first copy of the id, whose time says when it is forgotten.
        let first = events.iter().enumerate().rfind(|(place, other)| {
            *place <= index
                && other.event_id == row.event_id
                && !got.duplicates.contains(place)
                && !got.rejected.contains(place)
        });
        let first = first.map_or(row.ts, |(_, first)| first.ts);
        let watermark = largest.map(|largest: i64| largest.saturating_sub(spec.delay));
        let forgotten =
            ttl.is_some_and(|ttl| watermark.is_some_and(|watermark| first.saturating_add(ttl) <= watermark));
        if forgotten {
            continue;
        }
        let mut with_copy = events.clone();
        with_copy.insert(index + 1, row.clone());
        let other = run(spec, with_copy, flush)?;
        same(&format!("with a copy of event {index}, emission"), &other.results(), &got.results())?;
        same(&format!("with a copy of event {index}, late"), &other.late, &got.late)?;
        if other.duplicates.len() != got.duplicates.len() + 1 {
            return Err(format!("  the copy of event {index} is no duplicate"));
        }
    }
    Ok(())
}

fn indexed(events: &[Row]) -> Vec<Row> {
    events.iter().enumerate().map(|(index, row)| Row { index, ..row.clone() }).collect()
}

/// The good records are the events, and the bad lines are reported with their numbers.
fn check_raw(case: &Case, raw: &Raw) -> Result<(), String> {
    let text = Cursor::new(raw.text.clone().into_bytes());
    let records: Vec<Result<Row, SourceError>> = match raw.format.as_str() {
        "jsonl" => JsonLines::<Row>::new(text).collect(),
        "csv" => Csv::<Row>::new(text).collect(),
        other => return Err(format!("  unknown format {other}")),
    };
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for record in records {
        match record {
            Ok(row) => good.push(row),
            Err(error) => bad.push(error.bad_record().ok_or_else(|| format!("  {error}"))?.line()),
        }
    }
    same("record", &good, &case.events)?;
    same("bad line", &bad, &case.expected.bad_lines)
}

/// Refused when it is built, or an error of the run: with what the text names.
fn check_error(case: &Case, spec: &Spec, text: &str) -> Result<(), String> {
    let built = pipeline(spec);
    if let Err(refused) = built {
        // A message names the numbers that make it impossible. One of zero or less is named by its parameter.
        for (name, value) in [("size", spec.size), ("slide", spec.slide), ("gap", spec.gap)] {
            let Some(value) = value.filter(|value| text.contains(name) && 0 < *value) else { continue };
            if !durations_in(&refused).contains(&value) {
                return Err(format!("  the error does not name the {name} {value}: {refused}"));
            }
        }
        return Ok(());
    }
    let got = run(spec, indexed(&case.events), case.flush.unwrap_or(true))?;
    let Some(failure) = got.failures.first() else {
        return Err(format!("  expected an error ({text}), got {:?}", got.emissions));
    };
    if let Some(key) = word_after(text, "key ")
        && failure.key() != Some(&format!("{key:?}"))
    {
        return Err(format!("  the error is not about the key {key}: {failure}"));
    }
    if let Some([start, end]) =
        numbers_in(text, '[', ')').first().and_then(|numbers| <[i64; 2]>::try_from(numbers.clone()).ok())
    {
        let window = Window::new(Timestamp::from_micros(start), Timestamp::from_micros(end));
        if failure.window() != Some(window) {
            return Err(format!("  the error is not about the window {window}: {failure}"));
        }
    }
    for result in numbers_in(text, '(', ')') {
        let Ok([start, end, value]) = <[i64; 3]>::try_from(result) else { continue };
        if !got.emissions.iter().any(|got| (got.start, got.end, got.value) == (start, end, value)) {
            return Err(format!("  the result ({start},{end},{value}) is missing: {:?}", got.emissions));
        }
    }
    Ok(())
}

/// The durations of a message, such as `86400ms`, in ticks.
fn durations_in(message: &str) -> Vec<i64> {
    let words = message.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter_map(|word| {
            let (number, unit) = word.split_at(word.find(|c: char| !c.is_ascii_digit())?);
            let units = [("us", 1), ("ms", 1_000), ("s", 1_000_000), ("m", 60_000_000), ("h", 3_600_000_000)];
            let longer_units = [("d", 86_400_000_000), ("w", 604_800_000_000)];
            let (_, ticks) = units.iter().chain(&longer_units).find(|(name, _)| *name == unit)?;
            number.parse::<i64>().ok()?.checked_mul(*ticks)
        })
        .collect()
}

/// `u1` of `… key u1, …`
fn word_after<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    let (_, behind) = text.split_once(before)?;
    behind.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|word| !word.is_empty())
}

/// The numbers of each `open a,b,… close`.
fn numbers_in(text: &str, open: char, close: char) -> Vec<Vec<i64>> {
    let starts = text.match_indices(open);
    starts
        .filter_map(|(start, _)| {
            let inside = text[start + open.len_utf8()..].split(close).next()?;
            inside.split(',').map(|number| number.trim().parse().ok()).collect()
        })
        .collect()
}

/// The events of a formula over `i`: `10*i`, `k{i}`, or a constant.
fn generated(generator: &Generator) -> Result<Vec<Row>, String> {
    let text = |value: &Value, i: usize| value.as_str().map(|text| text.replace("{i}", &i.to_string()));
    let number = |value: &Value, i: usize| -> Option<i64> {
        let Some(formula) = value.as_str() else { return value.as_i64() };
        let mut sum = 0_i64;
        for term in formula.replace(' ', "").split('+') {
            let factors = term.split('*').map(|factor| match factor {
                "i" => i64::try_from(i).ok(),
                "-i" => i64::try_from(i).ok().map(|i| -i),
                number => number.parse().ok(),
            });
            sum += factors.collect::<Option<Vec<_>>>()?.into_iter().product::<i64>();
        }
        Some(sum)
    };
    (0..generator.count)
        .map(|index| {
            Some(Row {
                event_id: text(&generator.event_id, index)?,
                user: text(&generator.user, index)?,
                ts: number(&generator.ts, index)?,
                value: number(&generator.value, index)?,
                index,
            })
        })
        .collect::<Option<_>>()
        .ok_or_else(|| "  a formula that the runner does not know".to_owned())
}

/// What is kept when the watermark has passed everything: `finish` takes the pipeline, and leaves nothing to look at.
fn left_at_the_end_of_time(spec: &Spec, events: Vec<Row>) -> Result<Counters, String> {
    let mut pipeline = pipeline(spec)?;
    let _ = pipeline.push_batch(events).map_err(|error| format!("  {error}"))?;
    let _ = pipeline.advance_to(Timestamp::MAX).map_err(|error| format!("  {error}"))?;
    Ok(pipeline.counters())
}

/// Clause by clause; one that is not known fails the case.
fn check_behaviour(case: &Case, behaviour: &str) -> Result<(), String> {
    let Some(spec) = &case.spec else {
        return Err(format!("  the runner knows no check for: {behaviour}"));
    };
    let events = match &case.generator {
        Some(generator) => generated(generator)?,
        None => indexed(&case.events),
    };
    let left = match behaviour.contains("after flush") {
        true => left_at_the_end_of_time(spec, events.clone())?,
        false => Counters::default(),
    };
    let got = run(spec, events, true)?;
    for clause in behaviour.split(';').map(str::trim).filter(|clause| !clause.is_empty()) {
        let numbers: Vec<i64> =
            clause.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
        let (expected, found) = match (clause, numbers.as_slice()) {
            (_, [count, value]) if clause.contains("results of value") => {
                let matching = got.emissions.iter().filter(|emission| emission.value == *value).count();
                (*count, vec![matching as i64, got.emissions.len() as i64])
            }
            (_, [count]) if clause.contains("ids before flush") => (*count, vec![got.ids as i64]),
            (_, [count]) if clause.contains("windows before flush") => (*count, vec![got.open_windows as i64]),
            (_, [count]) if clause.contains("windows after flush") => (*count, vec![left.open_windows() as i64]),
            (_, [count]) if clause.contains("ids after flush") => (*count, vec![left.ids() as i64]),
            _ => return Err(format!("  the runner knows no check for: {clause}")),
        };
        if found.iter().any(|&number| number != expected) {
            return Err(format!("  {clause}: got {found:?}"));
        }
    }
    Ok(())
}

/// The mistakes of the texts of all cases, found by the compiler in one run.
struct Compiled {
    /// By the name of the program.
    bad: BTreeMap<String, Vec<(usize, String)>>,
    /// By the text, which has none.
    good: BTreeMap<String, Vec<(usize, String)>>,
}

impl Compiled {
    fn of(cases: &[Case]) -> Self {
        let mut programs = Vec::new();
        for case in cases {
            for (number, bad) in case.bad_pipelines.iter().enumerate() {
                programs.push(Program::new(program_name(&case.name, number), &bad.text));
            }
            if let (Some(text), Some(_)) = (&case.pipeline, is_about_a_float_key(case)) {
                programs.push(Program::new(program_name(&case.name, 0), text));
            }
        }
        let good: BTreeSet<_> = cases.iter().filter_map(good_text).collect();
        for (number, text) in good.iter().enumerate() {
            programs.push(Program::new(format!("good_{number}"), text));
        }
        let mut errors = compile(&programs);
        let good = (0..)
            .zip(good)
            .filter_map(|(number, text): (usize, _)| Some((text, errors.remove(&format!("good_{number}"))?)));
        let good = good.collect();
        Compiled { bad: errors, good }
    }

    fn errors(&self, case: &Case, number: usize) -> &[(usize, String)] {
        self.bad.get(&program_name(&case.name, number)).map_or(&[], Vec::as_slice)
    }
}

/// The text of a case that has results. Other folders may be written in another grammar, which `spec` is there for.
fn good_text(case: &Case) -> Option<String> {
    if std::env::var_os("MINISTREAM_CASES").is_some() || case.expected.emissions.is_none() {
        return None;
    }
    // A ttl has to be stated in front of a session, and durations have to fit in 64 bits of microseconds.
    let text = case.pipeline.as_deref()?.replace("9223372036854775807ms", "9223372036854775807us");
    let needs_ttl = text.contains("session(") && !text.contains("ttl");
    Some(if needs_ttl { text.replace("dedup(event_id)", "dedup(event_id, ttl = 1d)") } else { text })
}

fn program_name(case: &str, number: usize) -> String {
    let word: String = case.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("{word}_{number}")
}

fn is_about_a_float_key(case: &Case) -> Option<&str> {
    case.expected.behaviour.as_deref().filter(|text| text.contains("does not compile"))
}

/// Each text is refused with a message at the token.
fn check_bad_pipelines(case: &Case, compiled: &Compiled) -> Result<(), String> {
    for (number, bad) in case.bad_pipelines.iter().enumerate() {
        let errors = compiled.errors(case, number);
        if errors.is_empty() {
            return Err(format!("  `{}` compiles", bad.text));
        }
        let text = super::compile::spelled(&bad.text);
        let expected = super::compile::column_of(&text, &bad.points_at)
            .ok_or_else(|| format!("  `{}` is not in `{text}`", bad.points_at))?;
        let here: Vec<_> = errors.iter().filter(|(column, _)| *column == expected).collect();
        if here.is_empty() {
            return Err(format!("  `{text}`\n  no error at `{}` (column {expected}), but {errors:?}", bad.points_at));
        }
        if let Some(word) = word_after(&bad.error, "suggests ")
            && !here.iter().any(|(_, message)| message.contains(&format!("`{word}`")))
        {
            return Err(format!("  `{text}`\n  `{word}` is not suggested: {here:?}"));
        }
    }
    Ok(())
}

fn check(case: &Case, compiled: &Compiled) -> Result<(), String> {
    if !case.bad_pipelines.is_empty() {
        check_bad_pipelines(case, compiled)?;
    }
    if let Some(text) = good_text(case) {
        match compiled.good.get(&text).map(Vec::as_slice) {
            Some([]) => {}
            errors => return Err(format!("  `{text}` does not compile: {errors:?}")),
        }
    }
    if let Some(raw) = &case.raw {
        check_raw(case, raw)?;
    }
    if is_about_a_float_key(case).is_some() {
        let errors = compiled.errors(case, 0);
        return match errors {
            [] => Err("  it compiles".to_owned()),
            errors if errors.iter().any(|(_, text)| text.contains("cannot be a key")) => Ok(()),
            errors => Err(format!("  the error is not about the key: {errors:?}")),
        };
    }
    match (&case.spec, &case.expected) {
        (Some(spec), Expected { emissions: Some(emissions), .. }) => check_emissions(case, spec, emissions),
        // Two pipelines, of which the second does not take the checkpoint of the first.
        (Some(_), Expected { error: Some(_), .. }) if case.restore_into.is_some() => Ok(()),
        (Some(spec), Expected { error: Some(error), .. }) => check_error(case, spec, error),
        (_, Expected { behaviour: Some(behaviour), .. }) => check_behaviour(case, behaviour),
        (None, _) if !case.bad_pipelines.is_empty() => Ok(()),
        _ => Err("  nothing is expected that the runner can check".to_owned()),
    }
}

#[test]
fn cases() {
    let mut report = Report::default();
    let mut cases = Vec::new();
    for (path, file) in files("MINISTREAM_CASES", "cases") {
        for case in listed(&path, file, &mut report) {
            let name = case["name"].as_str().unwrap_or("a case without a name").to_owned();
            match serde_json::from_value::<Case>(case) {
                Ok(case) => cases.push(case),
                Err(error) => report.run(&name, || Outcome::Failed(format!("  not readable: {error}"))),
            }
        }
    }
    let compiled = Compiled::of(&cases);
    for case in &cases {
        report.run(&case.name, || {
            let start = Instant::now();
            if let Err(difference) = check(case, &compiled) {
                return Outcome::Failed(difference);
            }
            let taken = start.elapsed();
            if case.time_limit_ms.is_some_and(|limit| u128::from(limit) < taken.as_millis()) {
                return Outcome::Failed(format!("  took {taken:?}"));
            }
            if let Err(difference) = copies_change_nothing(case) {
                return Outcome::Failed(difference);
            }
            // Checkpoints and state on disk: the run without them is checked.
            let needs_more = !case.actions.is_empty() || case.restore_into.is_some() || case.backend.is_some();
            if needs_more { Outcome::NotYet } else { Outcome::Passed }
        });
    }
    report.close("cases");
}
