//! The contract of sources: where events come from, and what can be wrong with them.

use std::fmt;
use std::io;

/// The longest part of a bad record that is kept for its report, in bytes.
const MOST_TEXT: usize = 200;
/// The longest reason, in bytes: that of a wrong type quotes the value, which may be of any length.
const MOST_REASON: usize = 400;

/// A source of events: an iterator that knows where it is.
///
/// A bad record is an error, and the source goes on behind it: it moves nothing, and is the caller's to count, report or
/// pass on. After an error of the medium the source ends.
pub trait Source: Iterator<Item = Result<Self::Event, SourceError>> {
    /// What it gives.
    type Event;

    /// Behind which record the source stands.
    fn position(&self) -> Position;
}

/// How far a file was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Position {
    /// Lines read, blank and bad ones too.
    pub line: u64,
    /// Bytes read.
    pub byte: u64,
}

/// Why a source gives no event.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// One record cannot be read; the next one may be good.
    #[error("{0}")]
    BadRecord(BadRecord),
    /// The file cannot be opened or read; nothing follows.
    #[error("{path}: {error}")]
    Io {
        /// The file, or what it was called.
        path: String,
        /// What the system says.
        #[source]
        error: io::Error,
    },
}

impl SourceError {
    /// The bad record, if it is one.
    pub fn bad_record(&self) -> Option<&BadRecord> {
        match self {
            SourceError::BadRecord(bad) => Some(bad),
            SourceError::Io { .. } => None,
        }
    }
}

/// A record that is no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    line: u64,
    reason: String,
    text: String,
}

impl BadRecord {
    #[cfg_attr(not(any(test, feature = "json", feature = "csv")), expect(dead_code, reason = "for the sources"))]
    pub(crate) fn new(line: u64, reason: impl fmt::Display, text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text.get(..MOST_TEXT).unwrap_or(text)).into_owned();
        BadRecord { line, reason: shortened(&reason.to_string()), text }
    }

    /// The line on which it starts, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// What is wrong with it.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Its beginning, as far as it is text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// `line 5: expected value at column 1`
impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

/// The reason on one line. Where it is too long it lacks its middle, as what was expected stands at the end.
fn shortened(reason: &str) -> String {
    let (head, tail) = if reason.len() <= MOST_REASON {
        (reason, None)
    } else {
        let head = reason.floor_char_boundary(MOST_REASON / 2);
        let tail = reason.ceil_char_boundary(reason.len() - MOST_REASON / 2);
        (reason.get(..head).unwrap_or_default(), reason.get(tail..))
    };
    let mut line = String::with_capacity(head.len() + tail.map_or(0, str::len));
    for part in [Some(head), tail.map(|_| " … "), tail].into_iter().flatten() {
        for char in part.chars() {
            if char.is_control() { line.extend(char.escape_default()) } else { line.push(char) }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_one_line_of_reasonable_length() {
        let bad = BadRecord::new(7, "two\nlines", b"");
        assert_eq!(bad.to_string(), "line 7: two\\nlines");
        let long = format!("invalid type: string \"{}\", expected i64 at column 3", "é".repeat(1_000));
        let bad = BadRecord::new(7, long, b"");
        assert!(bad.reason().len() < 500, "{bad}");
        assert!(bad.reason().starts_with("invalid type: string \"é"), "{bad}");
        assert!(bad.reason().ends_with("é\", expected i64 at column 3"), "{bad}");
    }
}
