//! Timelines: what is pushed, and indented below it what came out.
//!
//! A line of a timeline is an event (`alice 9.5s 12`: key, event time, value; with `#7` behind it its id), `~ 20s` for a
//! watermark moved by hand, or `end`.

use std::fmt::Write;
use std::time::Duration;

use ministream::prelude::*;
use ministream::window::WindowKind;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Event)]
pub(crate) struct Click {
    pub(crate) id: u64,
    pub(crate) user: String,
    #[event(time, unit = "us")]
    pub(crate) ts: i64,
    pub(crate) value: i64,
}

/// Results as text, late events, duplicates, rejected events.
pub(crate) type Outputs = (Stream<String>, Stream<Late<Click>>, Stream<Click>, Stream<Click>);

/// A pipeline of all stages.
#[derive(Clone)]
pub(crate) struct Setup<W> {
    pub(crate) windows: W,
    pub(crate) watermark: Bounded,
    pub(crate) lateness: Duration,
    pub(crate) emit: Option<Emit>,
    pub(crate) ttl: Option<Duration>,
}

pub(crate) fn setup<W>(windows: W, delay: u64, lateness: u64) -> Setup<W> {
    let ttl = Some(hours(24));
    Setup { windows, watermark: Bounded::new(secs(delay)), lateness: secs(lateness), emit: None, ttl }
}

impl<W: WindowKind + Clone> Setup<W> {
    pub(crate) fn ttl(self, ttl: Option<Duration>) -> Self {
        Setup { ttl, ..self }
    }

    pub(crate) fn emit(self, emit: Emit) -> Self {
        Setup { emit: Some(emit), ..self }
    }

    pub(crate) fn max_ahead(self, max_ahead: Duration) -> Self {
        Setup { watermark: self.watermark.max_ahead(max_ahead), ..self }
    }

    pub(crate) fn sums(&self) -> impl FnOnce(Stream<Click>) -> Outputs {
        self.aggregates(Sum::of(|click: &Click| click.value))
    }

    pub(crate) fn aggregates<A>(&self, aggregate: A) -> impl FnOnce(Stream<Click>) -> Outputs
    where
        A: Aggregate<Click, Out: std::fmt::Display>,
    {
        let Setup { windows, watermark, lateness, emit, ttl } = self.clone();
        move |source| {
            let unique = source.dedup(|click| &click.id);
            let unique = match ttl {
                Some(ttl) => unique.ttl(ttl),
                None => unique,
            };
            let (unique, duplicates) = unique.with_duplicates();
            let (events, rejected) = unique.watermark(watermark).with_rejected();
            let windows = events.key_by(|click| &click.user).window(windows).allowed_lateness(lateness);
            let windows = match emit {
                Some(emit) => windows.emit(emit),
                None => windows,
            };
            let (results, late) = windows.aggregate(aggregate).map(|pane| pane.to_string()).into_streams();
            (results, late, duplicates, rejected)
        }
    }

    /// Runs a timeline of sums.
    pub(crate) fn run(&self, timeline: &str) -> String {
        run(self.sums(), timeline)
    }
}

/// Runs a timeline through a pipeline.
pub(crate) fn run(build: impl FnOnce(Stream<Click>) -> Outputs, timeline: &str) -> String {
    let mut pipeline = Some(Pipeline::new(build));
    let mut text = String::new();
    let mut next_id = 1;
    for line in timeline.lines().map(str::trim).filter(|line| !line.is_empty()) {
        writeln!(text, "{line}").unwrap();
        if line == "end" {
            let (results, late, duplicates, rejected) = match pipeline.take().unwrap().finish() {
                Ok(outputs) => outputs,
                Err(error) => {
                    writeln!(text, "    ERROR {error}").unwrap();
                    error.into_results()
                }
            };
            render(&mut text, results, late, duplicates, rejected);
            continue;
        }
        let pipeline = pipeline.as_mut().expect("nothing follows the end");
        let outputs = match line.strip_prefix('~') {
            Some(to) => pipeline.advance_to(Timestamp::from_micros(seconds(to.trim()))),
            None => pipeline.push(click(line, &mut next_id)),
        };
        let error = match outputs {
            Ok((results, late, duplicates, rejected)) => {
                render(&mut text, results, late, duplicates, rejected);
                continue;
            }
            Err(error) => error,
        };
        writeln!(text, "    ERROR {error}").unwrap();
        let (results, late, duplicates, rejected) = pipeline.drain();
        render(&mut text, results, late, duplicates, rejected);
    }
    text
}

fn render(
    text: &mut String,
    results: impl IntoIterator<Item = String>,
    late: impl IntoIterator<Item = Late<Click>>,
    duplicates: impl IntoIterator<Item = Click>,
    rejected: impl IntoIterator<Item = Click>,
) {
    for result in results {
        writeln!(text, "    {result}").unwrap();
    }
    for late in late {
        writeln!(text, "    late at {}: {} {}", late.watermark, late.timestamp, late.event.user).unwrap();
    }
    for duplicate in duplicates {
        writeln!(text, "    duplicate #{}", duplicate.id).unwrap();
    }
    for rejected in rejected {
        writeln!(text, "    rejected {}", rejected.timestamp()).unwrap();
    }
}

/// `alice 9.5s 12 #7`
fn click(line: &str, next_id: &mut u64) -> Click {
    let mut words = line.split_whitespace();
    let mut word = || words.next();
    let (user, ts, value) = (word().unwrap().to_owned(), seconds(word().unwrap()), word().unwrap().parse().unwrap());
    let id = word().map(|id| id.strip_prefix('#').unwrap().parse().unwrap());
    let id = id.unwrap_or_else(|| {
        *next_id += 1;
        *next_id - 1
    });
    Click { id, user, ts, value }
}

/// `9.5s`, `-3s`, `min`, `max-5` (ticks before the last)
fn seconds(text: &str) -> i64 {
    if let Some(behind) = text.strip_prefix("max") {
        return i64::MAX + behind.parse::<i64>().unwrap_or(0);
    }
    if let Some(behind) = text.strip_prefix("min") {
        return i64::MIN + behind.parse::<i64>().unwrap_or(0);
    }
    let number: f64 = text.strip_suffix('s').unwrap().parse().unwrap();
    (number * 1e6).round() as i64
}
