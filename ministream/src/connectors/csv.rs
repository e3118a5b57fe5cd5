//! CSV files with a header.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::path::Path;

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder, StringRecord};
use serde::de::DeserializeOwned;

use crate::connector::{BadRecord, Position, Source, SourceError};

/// Bytes of the file that may lie behind the parser before they are forgotten.
const MOST_KEPT: usize = 64 << 10;

/// Events from the rows of a CSV file (RFC 4180), whose first row names the fields.
///
/// Blank lines are skipped. A byte order mark at the start, line ends of `\r\n` and a missing one at the end are no part of
/// the data; quoted fields may hold commas, quotes and line ends. A row that is no event (of another number of fields, of
/// other types, not UTF-8) is a bad record, reported with the line on which it starts; the next row goes on. An empty field
/// is an empty string, and no number.
///
/// ```
/// use ministream::connectors::Csv;
/// use serde::Deserialize;
///
/// #[derive(Debug, Deserialize, PartialEq)]
/// struct Click {
///     user: String,
///     value: i64,
/// }
///
/// let text = "user,value\nalice,3\nbob,many\n";
/// let mut clicks = Csv::<Click>::new(text.as_bytes());
/// assert_eq!(clicks.next().unwrap().unwrap(), Click { user: "alice".into(), value: 3 });
/// let bad = clicks.next().unwrap().unwrap_err();
/// assert_eq!(bad.to_string(), "line 3: field `value`: invalid digit found in string");
/// ```
pub struct Csv<T> {
    reader: Reader<Input>,
    name: String,
    record: ByteRecord,
    ended: bool,
    gives: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Csv<T> {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SourceError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Ok(Csv::new(file).named(name)),
            Err(error) => Err(SourceError::Io { path: name, error }),
        }
    }

    /// Reads anything else. It need not be buffered.
    pub fn new(reader: impl Read + Send + 'static) -> Self {
        let reader = ReaderBuilder::new().flexible(true).from_reader(Input::new(reader));
        let name = "the input".to_owned();
        Csv { reader, name, record: ByteRecord::new(), ended: false, gives: PhantomData }
    }

    /// What errors of reading call it; the path if it was opened by that.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    fn read(&mut self) -> Result<Option<T>, Problem> {
        let headers = self.reader.byte_headers()?.clone();
        if !self.reader.read_byte_record(&mut self.record)? {
            return Ok(None);
        }
        let headers = StringRecord::from_byte_record(headers).map_err(|_| Problem::bad("the header is not UTF-8"))?;
        if self.record.len() != headers.len() {
            let reason = format!("{} fields, and the header has {}", self.record.len(), headers.len());
            return Err(Problem::Bad(reason));
        }
        let name_of = |field: u64| {
            let name = usize::try_from(field).ok().and_then(|field| headers.get(field));
            name.map_or_else(|| format!("field {}", field + 1), |name| format!("field `{name}`"))
        };
        let record = StringRecord::from_byte_record(self.record.clone())
            .map_err(|error| Problem::Bad(format!("{}: not UTF-8", name_of(error.utf8_error().field() as u64))))?;
        record.deserialize(Some(&headers)).map(Some).map_err(|error| match error.kind() {
            ErrorKind::Deserialize { err, .. } => match err.field() {
                Some(field) => Problem::Bad(format!("{}: {}", name_of(field), err.kind())),
                None => Problem::bad(err.kind()),
            },
            _ => Problem::bad(error),
        })
    }

    /// The record just read, with the line on which it starts. The parser tells where it began to look, before line ends
    /// that it skips.
    fn bad_record(&mut self, reason: &str) -> BadRecord {
        let (begin, end) = (self.record.position().map_or(0, csv::Position::byte), self.reader.position().byte());
        let input = self.reader.get_mut();
        input.forget_to(begin);
        let line_ends = input.kept.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count() as u64;
        input.forget_to(begin + line_ends);
        let length = usize::try_from(end - input.kept_from).unwrap_or(usize::MAX);
        let text = input.kept.get(..length).unwrap_or(&input.kept);
        BadRecord::new(input.line, reason, text.trim_ascii_end())
    }
}

/// What is wrong with a record, or with the file.
enum Problem {
    Bad(String),
    Medium(io::Error),
}

impl Problem {
    fn bad(reason: impl fmt::Display) -> Self {
        Problem::Bad(reason.to_string())
    }
}

impl From<csv::Error> for Problem {
    fn from(error: csv::Error) -> Self {
        Problem::Medium(match error.into_kind() {
            ErrorKind::Io(error) => error,
            other => io::Error::other(format!("{other:?}")),
        })
    }
}

/// The bytes of the file without the byte order mark, which the parser finds only if it comes in one piece.
struct Input {
    reader: Box<dyn Read + Send>,
    /// The first bytes of the file, until they are handed on; None before the first call.
    head: Option<Vec<u8>>,
    /// The length of the mark.
    mark: u64,
    /// The last bytes handed on, from `kept_from` on.
    kept: Vec<u8>,
    kept_from: u64,
    /// The line of the first of them, from 1.
    line: u64,
}

impl Input {
    const MARK: &[u8] = b"\xef\xbb\xbf";

    fn new(reader: impl Read + Send + 'static) -> Self {
        Input { reader: Box::new(reader), head: None, mark: 0, kept: Vec::new(), kept_from: 0, line: 1 }
    }

    /// Keeps nothing before `byte` any more.
    fn forget_to(&mut self, byte: u64) {
        let count = usize::try_from(byte.saturating_sub(self.kept_from)).unwrap_or(usize::MAX).min(self.kept.len());
        self.kept_from += count as u64;
        self.line += self.kept.drain(..count).filter(|&byte| byte == b'\n').count() as u64;
    }

    fn read_head(&mut self) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        (&mut self.reader).take(Self::MARK.len() as u64).read_to_end(&mut head)?;
        if head == Self::MARK {
            head.clear();
            self.mark = Self::MARK.len() as u64;
        }
        Ok(head)
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.head.is_none() {
            self.head = Some(self.read_head()?);
        }
        let count = match &mut self.head {
            Some(head) if !head.is_empty() => {
                let count = head.as_slice().read(buffer)?;
                head.drain(..count);
                count
            }
            _ => self.reader.read(buffer)?,
        };
        self.kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

impl<T: DeserializeOwned> Iterator for Csv<T> {
    type Item = Result<T, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let record = self.read();
        let end = self.reader.position().byte();
        let result = match record {
            Ok(Some(event)) => Some(Ok(event)),
            Ok(None) => None,
            Err(Problem::Bad(reason)) => Some(Err(SourceError::BadRecord(self.bad_record(&reason)))),
            Err(Problem::Medium(error)) => Some(Err(SourceError::Io { path: self.name.clone(), error })),
        };
        self.ended = matches!(result, None | Some(Err(SourceError::Io { .. })));
        if MOST_KEPT < self.reader.get_ref().kept.len() {
            self.reader.get_mut().forget_to(end);
        }
        result
    }
}

impl<T: DeserializeOwned> Source for Csv<T> {
    type Event = T;

    fn position(&self) -> Position {
        let position = self.reader.position();
        let input = self.reader.get_ref();
        Position { line: position.line().saturating_sub(1), byte: input.mark + position.byte() }
    }
}

impl<T> fmt::Debug for Csv<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Csv").field("name", &self.name).finish_non_exhaustive()
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
        let rows = |rows: Csv<Row>| -> Vec<String> {
            rows.map(|row| match row {
                Ok(row) => format!("{}={}", row.id, row.value),
                Err(error) => error.to_string(),
            })
            .collect()
        };
        let at_once = rows(Csv::new(text));
        assert_eq!(rows(Csv::new(Trickle(text))), at_once);
        at_once
    }

    #[test]
    fn good_rows() {
        assert_eq!(
            read(b"\xef\xbb\xbfid,value\r\na,1\r\n\"x,\"\"y\"\"\nz\",2\r\n\r\n,3"),
            ["a=1", "x,\"y\"\nz=2", "=3"]
        );
        assert_eq!(read(b"value,more,id\n1,x,a\n"), ["a=1"]);
        assert_eq!(read(b""), [] as [&str; 0]);
        assert_eq!(read(b"id,value\n"), [] as [&str; 0]);
    }

    #[test]
    fn bad_rows_are_reported_with_their_line_and_the_rest_is_read() {
        let text = b"id,value\na\nb,1,2\n\n\"c\nd\",x\ne,\nf,9223372036854775808\ng,1.5\n\xff,1\nh, 2\ni,3\n";
        assert_eq!(
            read(text),
            [
                "line 2: 1 fields, and the header has 2",
                "line 3: 3 fields, and the header has 2",
                "line 5: field `value`: invalid digit found in string",
                "line 7: field `value`: cannot parse integer from empty string",
                "line 8: field `value`: number too large to fit in target type",
                "line 9: field `value`: invalid digit found in string",
                "line 10: field `id`: not UTF-8",
                "line 11: field `value`: invalid digit found in string",
                "i=3",
            ]
        );
        let lines = ["line 2: 1 fields, and the header has 2", "line 5: field `value`: invalid digit found in string"];
        for text in [
            &b"id,value\r\na\r\nb,1\r\n\r\nc,x\r\n"[..],
            b"id,value\r\na\r\nb,1\r\n\r\nc,x",
            b"id,value\na\nb,1\n\nc,x",
        ] {
            assert_eq!(read(text), [lines[0], "b=1", lines[1]]);
        }
        assert_eq!(read(b"id,other\na,1\n"), ["line 2: missing field `value`"]);
    }
}
