//! Bytes per user and minute of a web log that arrives out of order.
//!
//! `cargo run --example clickstream -- --help`

mod delivery;
mod input;
mod report;

use std::error::Error;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, value_parser};
use ministream::connector::SourceError;
use ministream::connectors::JsonLines;
use ministream::prelude::*;
use serde::{Deserialize, Serialize};

use self::input::Input;
use self::report::Report;

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Request {
    event_id: u64,
    user: String,
    #[event(time, unit = "ms")]
    ts: i64,
    bytes: u64,
}

/// The log is out of order by up to 59 s, so nothing in it is late. A log that is worse has its results corrected for two
/// minutes.
#[pipeline(
    source -> dedup(event_id)
           -> key_by(user)
           -> tumbling(1m, delay = 60s, lateness = 2m)
           -> sum(bytes)
)]
fn bytes_per_user(source: Stream<Request>) -> (Stream<Pane<String, u64>>, Stream<Late<Request>>);

/// Bytes per user in windows of one minute of event time.
///
/// Prints each result when its window is complete, and again, marked as an update, when a late request corrects it; then a
/// summary with a digest of all results.
///
/// The input is one JSON object a line, with the fields `event_id` (integer), `user` (string), `ts` (Unix milliseconds) and
/// `bytes` (integer); other fields are ignored. A line that is none is reported, counted and skipped.
#[derive(Parser)]
#[command(name = "clickstream")]
struct Args {
    /// A file, or `-` for standard input; without it, a packaged log of 10,000 requests
    file: Option<PathBuf>,

    /// Deliver the requests in an order drawn from SEED, within the delay; reads the whole input first
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,

    /// Deliver so many percent of the requests twice
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = value_parser!(u8).range(0..=100))]
    #[arg(requires = "shuffle", hide_default_value = true)]
    duplicate: u8,

    /// Print the summary only
    #[arg(long)]
    quiet: bool,

    /// Print late requests, to standard error
    #[arg(long)]
    late: bool,

    /// Exit with 1 if there was a bad line
    #[arg(long)]
    strict: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(exit_code) => exit_code,
        // Whoever read the output has seen enough, as in `clickstream | head`.
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is gone too, nobody is left to tell.
            let _ = writeln!(io::stderr(), "clickstream: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    let started = Instant::now();
    let Input { name, reader, progress } = Input::open(args.file.as_deref(), args.quiet)?;
    let mut report = Report::new(args.quiet, args.late, progress);
    let mut pipeline = Pipeline::new(bytes_per_user);
    let mut kept = Vec::new();

    for request in JsonLines::<Request>::new(reader) {
        let request = match request {
            Ok(request) => request,
            Err(SourceError::BadRecord(bad)) => {
                report.bad_line(&bad)?;
                continue;
            }
            Err(SourceError::Io { error, .. }) => return Err(format!("{name}: {error}").into()),
            Err(error) => return Err(error.into()),
        };
        if args.shuffle.is_some() {
            kept.push(request);
        } else {
            let (panes, late) = pipeline.push(request)?;
            report.take(panes, late)?;
        }
    }
    if let Some(seed) = args.shuffle {
        // The delay of the pipeline, and the time for which its `dedup` remembers ids: window size plus lateness.
        for request in delivery::shuffled(kept, seed, args.duplicate, secs(60), minutes(3)) {
            let (panes, late) = pipeline.push(request)?;
            report.take(panes, late)?;
        }
    }

    let counters = pipeline.counters();
    let (panes, late) = pipeline.finish()?;
    report.take(panes, late)?;
    let fails = args.strict && report.bad_lines > 0;
    report.summary(&counters, started.elapsed())?;
    Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref().is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe)
}
