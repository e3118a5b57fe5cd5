//! Where the log comes from.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

const PACKAGED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/clickstream.jsonl");

/// Smaller files are read before a bar would be seen.
const WORTH_A_BAR: u64 = 8 * 1024 * 1024;

pub(crate) struct Input {
    /// For error messages.
    pub(crate) name: String,
    pub(crate) reader: Box<dyn Read + Send>,
    /// Follows the reader. Hidden where it would be in the way: of results on the same terminal, or in a file of errors.
    pub(crate) progress: ProgressBar,
}

impl Input {
    /// A file, standard input for `-`, or the packaged log.
    pub(crate) fn open(path: Option<&Path>, quiet: bool) -> Result<Self, String> {
        let path = path.unwrap_or(Path::new(PACKAGED));
        if path == Path::new("-") {
            let name = "standard input".to_owned();
            return Ok(Input { name, reader: Box::new(io::stdin()), progress: ProgressBar::hidden() });
        }
        let name = path.display().to_string();
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (size, file) = opened.map_err(|error| format!("{name}: {error}"))?;
        let free = io::stderr().is_terminal() && (quiet || !io::stdout().is_terminal());
        let progress = if free && WORTH_A_BAR < size { bar(size) } else { ProgressBar::hidden() };
        Ok(Input { name, reader: Box::new(progress.wrap_read(file)), progress })
    }
}

fn bar(size: u64) -> ProgressBar {
    let bar = ProgressBar::new(size);
    match ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes}, {eta} to go") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
