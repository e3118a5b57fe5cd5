//! JSON lines: one JSON value a line.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::marker::PhantomData;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::connector::{BadRecord, Position, Source, SourceError};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const LONGEST_LINE: usize = 16 << 20;

/// Events from lines of JSON, one an event.
///
/// Blank lines are skipped. A byte order mark at the start, line ends of `\r\n` and a missing one at the end are no part of
/// the data. A line that is no event (cut short, of another shape, not UTF-8, longer than
/// [`longest_line`](JsonLines::longest_line)) is a bad record, reported with its number; the next line goes on.
///
/// ```
/// use ministream::connectors::JsonLines;
/// use serde::Deserialize;
///
/// #[derive(Debug, Deserialize, PartialEq)]
/// struct Click {
///     user: String,
/// }
///
/// let text = "{\"user\": \"alice\"}\nnonsense\n{\"user\": \"bob\"}\n";
/// let mut clicks = JsonLines::<Click>::new(text.as_bytes());
/// assert_eq!(clicks.next().unwrap().unwrap(), Click { user: "alice".into() });
/// let bad = clicks.next().unwrap().unwrap_err();
/// assert_eq!(bad.to_string(), "line 2: expected ident at column 2");
/// assert_eq!(clicks.next().unwrap().unwrap(), Click { user: "bob".into() });
/// assert!(clicks.next().is_none());
/// ```
pub struct JsonLines<T> {
    reader: Box<dyn BufRead + Send>,
    name: String,
    position: Position,
    line: Vec<u8>,
    longest_line: usize,
    ended: bool,
    gives: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> JsonLines<T> {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SourceError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Ok(JsonLines::new(file).named(name)),
            Err(error) => Err(SourceError::Io { path: name, error }),
        }
    }

    /// Reads anything else. It need not be buffered.
    pub fn new(reader: impl Read + Send + 'static) -> Self {
        JsonLines {
            reader: Box::new(BufReader::with_capacity(64 << 10, reader)),
            name: "the input".to_owned(),
            position: Position::default(),
            line: Vec::new(),
            longest_line: LONGEST_LINE,
            ended: false,
            gives: PhantomData,
        }
    }

    /// What errors of reading call it; the path if it was opened by that.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The most bytes that a line may have; 16 MiB if not said. Longer ones are bad records, and are not held in memory.
    pub fn longest_line(mut self, bytes: usize) -> Self {
        self.longest_line = bytes;
        self
    }

    /// Reads the next line into `self.line`, without its end; false at the end of the input. Of a line that is too long
    /// only the beginning is kept. After an error the position is still before the line.
    fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        let mut bytes = 0;
        loop {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break;
            }
            let end = buffer.iter().position(|&byte| byte == b'\n');
            let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or(buffer);
            // One byte more than is allowed tells that it is too long.
            let room = self.longest_line.saturating_add(1).saturating_sub(self.line.len());
            self.line.extend_from_slice(part.get(..room).unwrap_or(part));
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            bytes += used as u64;
            if end.is_some() {
                break;
            }
        }
        self.position.byte += bytes;
        self.position.line += u64::from(bytes > 0);
        Ok(bytes > 0)
    }

    fn parse(&self) -> Option<Result<T, BadRecord>> {
        let bad = |reason: &dyn fmt::Display| BadRecord::new(self.position.line, reason, &self.line);
        if self.longest_line < self.line.len() {
            return Some(Err(bad(&format_args!("longer than {} bytes", self.longest_line))));
        }
        let start = if self.position.line == 1 { BYTE_ORDER_MARK } else { b"" };
        let line = self.line.strip_prefix(start).unwrap_or(&self.line).trim_ascii();
        if line.is_empty() {
            return None;
        }
        let parsed = match std::str::from_utf8(line) {
            Ok(text) => serde_json::from_str(text),
            Err(error) => return Some(Err(bad(&format_args!("not UTF-8 at byte {}", error.valid_up_to() + 1)))),
        };
        Some(parsed.map_err(|error| {
            // serde_json counts lines from the start of this one.
            let text = error.to_string();
            let reason = text.strip_suffix(&format!(" at line {} column {}", error.line(), error.column()));
            match reason {
                Some(reason) => bad(&format_args!("{reason} at column {}", error.column())),
                None => bad(&text),
            }
        }))
    }
}

impl<T: DeserializeOwned> Iterator for JsonLines<T> {
    type Item = Result<T, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.read_line() {
                Ok(true) => {
                    if let Some(record) = self.parse() {
                        return Some(record.map_err(SourceError::BadRecord));
                    }
                }
                Ok(false) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(SourceError::Io { path: self.name.clone(), error }));
                }
            }
        }
        None
    }
}

impl<T: DeserializeOwned> Source for JsonLines<T> {
    type Event = T;

    fn position(&self) -> Position {
        self.position
    }
}

impl<T> fmt::Debug for JsonLines<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonLines").field("name", &self.name).field("position", &self.position).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Row {
        id: String,
        value: i64,
    }

    /// Gives one byte a call.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let one = buffer.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }

    fn read(text: &'static [u8]) -> Vec<String> {
        let lines = |rows: JsonLines<Row>| -> Vec<String> {
            rows.longest_line(100)
                .map(|row| match row {
                    Ok(row) => format!("{}={}", row.id, row.value),
                    Err(error) => error.to_string(),
                })
                .collect()
        };
        let at_once = lines(JsonLines::new(text));
        assert_eq!(lines(JsonLines::new(Trickle(text))), at_once);
        at_once
    }

    #[test]
    fn good_lines() {
        let text = b"\xef\xbb\xbf{\"id\":\"a\",\"value\":1}\r\n\r\n  \n{\"id\":\"\",\"value\":-2,\"more\":[1]}\n{\"value\":3,\"id\":\"\\u00e9\"}";
        assert_eq!(read(text), ["a=1", "=-2", "é=3"]);
        assert_eq!(read(b""), [] as [&str; 0]);
        assert_eq!(read(b"\n\n"), [] as [&str; 0]);
        assert_eq!(read(b"\xef\xbb\xbf"), [] as [&str; 0]);
    }

    #[test]
    fn bad_lines_are_reported_with_their_number_and_the_rest_is_read() {
        let text = b"{\"id\":\"a\",\"value\":\n\nnot json\n{\"id\":null,\"value\":1}\n{\"value\":1}\n{\"id\":\"a\",\"value\":\"1\"}\n\
            {\"id\":\"a\",\"value\":9223372036854775808}\n{\"id\":\"a\",\"value\":1.0}\n{\"id\":\"a\",\"value\":1} {}\n\xff\xfe\n\
            {\"id\":\"\\ud800\",\"value\":1}\n\0\n{\"id\":\"a\",\"id\":\"b\",\"value\":1}\n{\"id\":\"z\",\"value\":1}";
        assert_eq!(
            read(text),
            [
                "line 1: EOF while parsing a value at column 18",
                "line 3: expected ident at column 2",
                "line 4: invalid type: null, expected a string at column 10",
                "line 5: missing field `id` at column 11",
                "line 6: invalid type: string \"1\", expected i64 at column 21",
                "line 7: invalid value: integer `9223372036854775808`, expected i64 at column 37",
                "line 8: invalid type: floating point `1.0`, expected i64 at column 21",
                "line 9: trailing characters at column 22",
                "line 10: not UTF-8 at byte 1",
                "line 11: unexpected end of hex escape at column 14",
                "line 12: expected value at column 1",
                "line 13: duplicate field `id` at column 14",
                "z=1",
            ]
        );
    }

    #[test]
    fn lines_that_are_too_long_are_not_held() {
        let text = format!("\"{}\"\n{{\"id\":\"a\",\"value\":1}}\n", "x".repeat(1 << 20));
        let mut rows = JsonLines::<Row>::new(io::Cursor::new(text.into_bytes())).longest_line(50);
        assert_eq!(rows.next().unwrap().unwrap_err().to_string(), "line 1: longer than 50 bytes");
        assert!(rows.line.capacity() < 1_000);
        assert_eq!(rows.next().unwrap().unwrap().id, "a");
        assert_eq!(rows.position(), Position { line: 2, byte: (1 << 20) + 3 + 21 });
    }

    #[test]
    fn deep_nesting_is_a_bad_record() {
        let text = format!("{}\n", "[".repeat(10_000));
        let mut values = JsonLines::<serde_json::Value>::new(io::Cursor::new(text.into_bytes()));
        assert_eq!(values.next().unwrap().unwrap_err().to_string(), "line 1: recursion limit exceeded at column 128");
    }

    #[test]
    fn an_error_of_the_medium_ends_the_source() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("pulled out"))
            }
        }
        let mut rows = JsonLines::<Row>::new(Broken);
        assert_eq!(rows.next().unwrap().unwrap_err().to_string(), "the input: pulled out");
        assert!(rows.next().is_none());
        let mut rows = JsonLines::<Row>::new((&b"\n{\"id\":"[..]).chain(Broken));
        assert_eq!(rows.next().unwrap().unwrap_err().to_string(), "the input: pulled out");
        assert_eq!(rows.position(), Position { line: 1, byte: 1 });
        let error = JsonLines::<Row>::open("no/such/file.jsonl").unwrap_err();
        assert!(error.to_string().starts_with("no/such/file.jsonl: "), "{error}");
    }
}
