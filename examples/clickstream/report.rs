//! What the run prints: results as they fire, and a summary whose digest stands for all of them.

use std::fmt::{Arguments, Write as _};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::time::Duration;

use indicatif::ProgressBar;
use ministream::Counters;
use ministream::connector::BadRecord;
use ministream::prelude::*;

use crate::Request;

/// Results and the summary go to standard output and are the same in every run; everything else goes to standard error.
pub(crate) struct Report {
    out: Box<dyn Write>,
    progress: ProgressBar,
    quiet: bool,
    shows_late: bool,
    results: u64,
    updates: u64,
    pub(crate) bad_lines: u64,
    digest: Digest,
    line: String,
}

impl Report {
    pub(crate) fn new(quiet: bool, shows_late: bool, progress: ProgressBar) -> Self {
        let out = io::stdout();
        Report {
            // A person sees each result at once; a file or a pipe gets them in blocks.
            out: if out.is_terminal() { Box::new(out.lock()) } else { Box::new(BufWriter::new(out.lock())) },
            progress,
            quiet,
            shows_late,
            results: 0,
            updates: 0,
            bad_lines: 0,
            digest: Digest::new(),
            line: String::new(),
        }
    }

    /// What one call of the pipeline brought about.
    pub(crate) fn take(
        &mut self,
        panes: impl IntoIterator<Item = Pane<String, u64>>,
        late: impl IntoIterator<Item = Late<Request>>,
    ) -> io::Result<()> {
        for pane in panes {
            self.results += 1;
            self.updates += u64::from(pane.is_update());
            self.line.clear();
            // Writing to a string does not fail.
            let _ = writeln!(self.line, "{pane}");
            self.digest.add(self.line.as_bytes());
            if !self.quiet {
                self.out.write_all(self.line.as_bytes())?;
            }
        }
        for late in late {
            if self.shows_late {
                self.tell(format_args!("{late}"))?;
            }
        }
        Ok(())
    }

    /// A line that is no request.
    pub(crate) fn bad_line(&mut self, bad: &BadRecord) -> io::Result<()> {
        self.bad_lines += 1;
        self.tell(format_args!("{bad}"))
    }

    pub(crate) fn summary(self, counters: &Counters, elapsed: Duration) -> io::Result<()> {
        let Report { mut out, progress, quiet, results, updates, bad_lines, digest, .. } = self;
        progress.finish_and_clear();
        if !quiet && results > 0 {
            writeln!(out)?;
        }
        let rows = [
            ("events", counters.events_in()),
            ("duplicates", counters.duplicates()),
            ("late", counters.late()),
            ("rejected", counters.rejected()),
            ("bad lines", bad_lines),
            ("results", results),
            ("updates", updates),
        ];
        for (name, count) in rows {
            writeln!(out, "{:<12}{count}", format!("{name}:"))?;
        }
        writeln!(out, "{:<12}{:016x}", "digest:", digest.0)?;
        out.flush()?;

        let per_second = counters.events_in() as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
        writeln!(io::stderr(), "{:<12}{:.3} s\n{:<12}{per_second:.0}", "elapsed:", elapsed.as_secs_f64(), "events/s:")
    }

    /// A line on standard error, above the progress bar.
    fn tell(&self, line: Arguments<'_>) -> io::Result<()> {
        self.progress.suspend(|| writeln!(io::stderr(), "{line}"))
    }
}

/// FNV-1a: the same only if all results are the same, in the same order.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
