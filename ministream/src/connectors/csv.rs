//! CSV files with a header.
//!
//! The file is cut into rows and fields here, and the crate `csv` makes events of them. Its reader takes any bytes for some
//! row: a quote that is not closed swallows the rest of the file in silence.

use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;

use csv::{ErrorKind, StringRecord};
use serde::Deserialize;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, Visitor};

use crate::connector::{BadRecord, Position, Source, SourceError};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const LONGEST_ROW: usize = 16 << 20;

/// Events from the rows of a CSV file (RFC 4180), whose first row names the fields.
///
/// Blank lines are skipped. A byte order mark at the start, line ends of `\r\n` and a missing one at the end are no part of
/// the data; quoted fields may hold commas, quotes and line ends. An empty field is an empty string, and no number.
///
/// A row that is no event (of another number of fields, of other types, not UTF-8, longer than
/// [`longest_row`](Csv::longest_row)) is a bad record, reported with the line on which it starts; the next row goes on. Of a
/// row whose quotes do not match only the first line is bad, and the next line is taken for a row: a line that was cut
/// short does not take others with it. If the header lacks a field, or is bad itself, so is every row.
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
    rows: Rows,
    name: String,
    header: Header,
    fields: StringRecord,
    ended: bool,
    gives: PhantomData<fn() -> T>,
}

enum Header {
    Unread,
    Names(StringRecord),
    Bad { line: u64 },
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
        Csv {
            rows: Rows::new(reader),
            name: "the input".to_owned(),
            header: Header::Unread,
            fields: StringRecord::new(),
            ended: false,
            gives: PhantomData,
        }
    }

    /// What errors of reading call it; the path if it was opened by that.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The most bytes that a row may have, line ends within its fields included; 16 MiB if not said. Longer ones are bad
    /// records, and are not held in memory.
    pub fn longest_row(mut self, bytes: usize) -> Self {
        self.rows.longest = bytes;
        self
    }

    /// The event of a row; None for the header.
    fn parse(&mut self, row: &Row) -> Result<Option<T>, String> {
        if let Header::Unread = self.header {
            self.header = Header::Bad { line: row.line };
            let mut names = StringRecord::new();
            split(self.rows.text(row)?, &mut names);
            self.header = Header::Names(names);
            return Ok(None);
        }
        split(self.rows.text(row)?, &mut self.fields);
        let names = match &self.header {
            Header::Names(names) => names,
            Header::Bad { line } => return Err(format!("the header, line {line}, is bad")),
            Header::Unread => return Ok(None),
        };
        if self.fields.len() != names.len() {
            return Err(format!("{} fields, and the header has {}", self.fields.len(), names.len()));
        }
        event(&self.fields, names).map(Some)
    }
}

impl<T: DeserializeOwned> Iterator for Csv<T> {
    type Item = Result<T, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let row = match self.rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => {
                    self.ended = true;
                    break;
                }
                Err(error) => {
                    self.ended = true;
                    return Some(Err(SourceError::Io { path: self.name.clone(), error }));
                }
            };
            match self.parse(&row) {
                Ok(Some(event)) => return Some(Ok(event)),
                Ok(None) => {}
                Err(reason) => {
                    let bad = BadRecord::new(row.line, reason, self.rows.bytes(&row));
                    return Some(Err(SourceError::BadRecord(bad)));
                }
            }
        }
        None
    }
}

impl<T: DeserializeOwned> Source for Csv<T> {
    type Event = T;

    fn position(&self) -> Position {
        self.rows.position
    }
}

impl<T> fmt::Debug for Csv<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Csv").field("name", &self.name).field("position", &self.rows.position).finish_non_exhaustive()
    }
}

/// Cuts a file into rows.
struct Rows {
    reader: BufReader<Box<dyn Read + Send>>,
    longest: usize,
    /// What was read and is still needed: the last row, and from `start` on lines that are to be read again.
    buffer: Vec<u8>,
    start: usize,
    /// Where `start` is in the file.
    position: Position,
    /// Rows that are still open at a line that starts here or before are known not to end well: so no line is looked at
    /// more than twice, however many quotes there are.
    hopeless: u64,
}

/// One row, in the buffer of [`Rows`] until the next one is read.
struct Row {
    /// The line on which it starts, from 1.
    line: u64,
    /// Without its line end.
    range: Range<usize>,
    flaw: Option<Flaw>,
}

#[derive(Clone, Copy)]
enum Flaw {
    TooLong,
    Open,
    BehindQuote,
    CarriageReturn,
}

impl Rows {
    fn new(reader: impl Read + Send + 'static) -> Self {
        Rows {
            reader: BufReader::with_capacity(64 << 10, Box::new(reader)),
            longest: LONGEST_ROW,
            buffer: Vec::new(),
            start: 0,
            position: Position::default(),
            hopeless: 0,
        }
    }

    /// The next row that is not blank; None at the end of the file. After an error the position is still before the row.
    fn next(&mut self) -> io::Result<Option<Row>> {
        loop {
            self.forget();
            let first_end = self.read_line(self.start)?;
            if first_end == self.start {
                return Ok(None);
            }
            let (mut line_start, mut end, mut lines) = (self.start, first_end, 1);
            let mut flaw = None;
            let mut quoted = false;
            while flaw.is_none() {
                if self.longest < self.content(self.start..end).len() {
                    flaw = Some(Flaw::TooLong);
                    break;
                }
                match scan(self.slice(self.content(line_start..end)), quoted) {
                    Ok(open) => quoted = open,
                    Err(found) => flaw = Some(found),
                }
                if flaw.is_some() || !quoted {
                    break;
                }
                if self.offset(end) <= self.hopeless {
                    flaw = Some(Flaw::Open);
                    break;
                }
                line_start = end;
                end = self.read_line(line_start)?;
                if end == line_start {
                    flaw = Some(Flaw::Open);
                }
                lines += 1;
            }
            let mut skipped = 0;
            if let Some(found) = &mut flaw {
                self.hopeless = self.hopeless.max(self.offset(line_start));
                if lines == 1 && !self.slice(self.start..end).ends_with(b"\n") {
                    skipped = self.reader.skip_until(b'\n')?;
                } else if lines > 1 && !matches!(found, Flaw::TooLong) {
                    *found = Flaw::Open;
                }
                (end, lines) = (first_end, 1);
            }
            let row = Row { line: self.position.line + 1, range: self.content(self.start..end), flaw };
            self.position.line += lines;
            self.position.byte = self.offset(end) + skipped as u64;
            self.start = end;
            if !row.range.is_empty() || row.flaw.is_some() {
                return Ok(Some(row));
            }
        }
    }

    /// The end of the line that starts at `from`, which is `from` at the end of the file. A line that is too long is not
    /// read to its end.
    fn read_line(&mut self, from: usize) -> io::Result<usize> {
        let at_start = self.position.byte == 0 && from == 0;
        let more = "\r\n".len() + if at_start { BYTE_ORDER_MARK.len() } else { 0 };
        let room = self.longest.saturating_add(more).saturating_sub(from - self.start);
        let known = self.slice(from..self.buffer.len());
        if let Some(length) = known.iter().position(|&byte| byte == b'\n') {
            return Ok(from + length + 1);
        }
        // At least one byte, as none is the end of the file.
        let room = room.saturating_sub(known.len()).max(1);
        (&mut self.reader).take(room as u64).read_until(b'\n', &mut self.buffer)?;
        if at_start && self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
            self.position.byte = BYTE_ORDER_MARK.len() as u64;
        }
        Ok(self.buffer.len())
    }

    /// Gives up what lies before `start`, now and then, so that a row costs no more than its length.
    fn forget(&mut self) {
        const MOST_KEPT: usize = 64 << 10;
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.buffer.shrink_to(MOST_KEPT);
            self.start = 0;
        } else if self.buffer.len() / 2 < self.start {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
    }

    fn text(&self, row: &Row) -> Result<&str, String> {
        match row.flaw {
            Some(Flaw::TooLong) => return Err(format!("longer than {} bytes", self.longest)),
            Some(Flaw::Open) => return Err("a quoted field is not closed".to_owned()),
            Some(Flaw::BehindQuote) => return Err("text behind a closing quote".to_owned()),
            Some(Flaw::CarriageReturn) => return Err("a carriage return that is not quoted".to_owned()),
            None => {}
        }
        str::from_utf8(self.bytes(row)).map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to() + 1))
    }

    fn bytes(&self, row: &Row) -> &[u8] {
        self.slice(row.range.clone())
    }

    fn slice(&self, range: Range<usize>) -> &[u8] {
        self.buffer.get(range).unwrap_or_default()
    }

    /// The range without a line end at its end.
    fn content(&self, range: Range<usize>) -> Range<usize> {
        let bytes = self.slice(range.clone());
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        range.start..range.start + bytes.len()
    }

    /// Where a byte of the buffer, not before `start`, is in the file.
    fn offset(&self, index: usize) -> u64 {
        self.position.byte + (index - self.start) as u64
    }
}

/// Whether a line without its line end leaves a quoted field open, if it starts within one or not.
fn scan(line: &[u8], quoted: bool) -> Result<bool, Flaw> {
    enum Place {
        FieldStart,
        Field,
        Quoted,
        /// Behind a quote within a quoted field: its end, or the first half of a doubled quote.
        Quote,
    }
    if !quoted && !line.contains(&b'"') && !line.contains(&b'\r') {
        return Ok(false);
    }
    let mut place = if quoted { Place::Quoted } else { Place::FieldStart };
    for byte in line {
        place = match (place, byte) {
            (Place::Quoted, b'"') => Place::Quote,
            (Place::Quoted, _) | (Place::Quote | Place::FieldStart, b'"') => Place::Quoted,
            (_, b',') => Place::FieldStart,
            (_, b'\r') => return Err(Flaw::CarriageReturn),
            (Place::Quote, _) => return Err(Flaw::BehindQuote),
            (Place::FieldStart | Place::Field, _) => Place::Field,
        };
    }
    Ok(matches!(place, Place::Quoted))
}

/// The fields of a row that [`scan`] found good.
fn split(row: &str, fields: &mut StringRecord) {
    fields.clear();
    let mut unquoted = String::new();
    let mut rest = Some(row);
    while let Some(row) = rest {
        let Some(mut quoted) = row.strip_prefix('"') else {
            // Fields are short: a plain loop finds the comma before a search for patterns is set up.
            let comma = row.bytes().position(|byte| byte == b',').unwrap_or(row.len());
            let (field, others) = row.split_at_checked(comma).unwrap_or((row, ""));
            fields.push_field(field);
            rest = others.strip_prefix(',');
            continue;
        };
        unquoted.clear();
        rest = loop {
            let (part, behind) = quoted.split_once('"').unwrap_or((quoted, ""));
            unquoted.push_str(part);
            let Some(doubled) = behind.strip_prefix('"') else { break behind.strip_prefix(',') };
            unquoted.push('"');
            quoted = doubled;
        };
        fields.push_field(&unquoted);
    }
}

/// Makes an event of a row, or says what is wrong with which field.
fn event<T: DeserializeOwned>(fields: &StringRecord, names: &StringRecord) -> Result<T, String> {
    fields.deserialize(Some(names)).map_err(|error| {
        let (field, reason) = match error.kind() {
            ErrorKind::Deserialize { err, .. } => (err.field(), err.kind().to_string()),
            _ => (None, error.to_string()),
        };
        let field = field.and_then(|field| usize::try_from(field).ok()).or_else(|| failing_field::<T>(fields, names));
        match field.map(|field| names.get(field).ok_or(field + 1)) {
            Some(Ok(name)) => format!("field `{name}`: {reason}"),
            Some(Err(number)) => format!("field {number}: {reason}"),
            None => reason,
        }
    })
}

/// At which field, from 0, a row fails: the crate `csv` does not say it of the errors of the user's own types.
fn failing_field<T: DeserializeOwned>(fields: &StringRecord, names: &StringRecord) -> Option<usize> {
    match fields.deserialize(Some(names)) {
        Ok(Traced::<T> { failed_at, .. }) => failed_at,
        Err(_) => None,
    }
}

struct Traced<T> {
    failed_at: Option<usize>,
    gives: PhantomData<fn() -> T>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Traced<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let at = Cell::new(At::default());
        let failed = T::deserialize(Trace { inner: deserializer, at: &at }).is_err();
        let At { field, within } = at.get();
        Ok(Traced { failed_at: (failed && within).then_some(field), gives: PhantomData })
    }
}

#[derive(Clone, Copy, Default)]
struct At {
    field: usize,
    /// Whether the value of the field is being read, and not what lies between the fields or behind them.
    within: bool,
}

/// Passes everything through, and notes at which field it is.
struct Trace<'a, I> {
    inner: I,
    at: &'a Cell<At>,
}

macro_rules! pass_on {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method($($argument,)* visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Trace<'_, D> {
    type Error = D::Error;

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_map(Trace { inner: visitor, at: self.at })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_struct(name, fields, Trace { inner: visitor, at: self.at })
    }

    pass_on! {
        deserialize_any() deserialize_bool() deserialize_char() deserialize_str() deserialize_string()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64() deserialize_bytes() deserialize_byte_buf() deserialize_option()
        deserialize_unit() deserialize_unit_struct(name: &'static str) deserialize_newtype_struct(name: &'static str)
        deserialize_seq() deserialize_tuple(len: usize) deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
        deserialize_identifier() deserialize_ignored_any()
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Trace<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Trace { inner: map, at: self.at })
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Trace<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        self.inner.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let At { field, .. } = self.at.get();
        self.at.set(At { field, within: true });
        let value = self.inner.next_value_seed(seed)?;
        self.at.set(At { field: field + 1, within: false });
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Row {
        id: String,
        value: i64,
    }

    /// Gives one byte a call, and is interrupted before each.
    struct Trickle<'a>(&'a [u8], bool);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let one = buffer.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }

    fn show(row: Result<Row, SourceError>) -> String {
        match row {
            Ok(row) => format!("{}={}", row.id, row.value),
            Err(error) => error.to_string(),
        }
    }

    fn read(text: &'static [u8]) -> Vec<String> {
        let rows = |rows: Csv<Row>| -> Vec<String> { rows.longest_row(100).map(show).collect() };
        let at_once = rows(Csv::new(text));
        assert_eq!(rows(Csv::new(Trickle(text, false))), at_once);
        at_once
    }

    #[test]
    fn good_rows() {
        assert_eq!(
            read(b"\xef\xbb\xbfid,value\r\na,1\r\n\"x,\"\"y\"\"\nz\",2\r\n\r\n,3"),
            ["a=1", "x,\"y\"\nz=2", "=3"]
        );
        assert_eq!(read(b"value,more,id\n1,x,a\n"), ["a=1"]);
        assert_eq!(read(b"\xef\xbb\xbf\"id\",\"value\"\n\"\",\"1\"\n5\" pipe,2\n\0,3\n"), ["=1", "5\" pipe=2", "\0=3"]);
        assert_eq!(read(b"id,value\r\n\"a\r\n\r\n,b\",1\r\n\"\"\"\",2\r\nc,3\r"), ["a\r\n\r\n,b=1", "\"=2", "c=3"]);
        assert_eq!(read(b"\n\r\nid,value\n\n\n"), [] as [&str; 0]);
        assert_eq!(read(b""), [] as [&str; 0]);
        assert_eq!(read(b"\xef\xbb\xbf"), [] as [&str; 0]);
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
                "line 10: not UTF-8 at byte 1",
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
        assert_eq!(
            read(b"id,value\ra,1\r\nb,2"),
            ["line 1: a carriage return that is not quoted", "line 2: the header, line 1, is bad"]
        );
        assert_eq!(read(b"id,other\na,1\n"), ["line 2: missing field `value`"]);
        assert_eq!(read(b"id,value,value\na,1,2\n"), ["line 2: duplicate field `value`"]);
        assert_eq!(read(b"id,\xff\na,1\n"), ["line 1: not UTF-8 at byte 4", "line 2: the header, line 1, is bad"]);
    }

    #[test]
    fn quotes_that_do_not_match_take_no_other_lines_with_them() {
        let open = "line 2: a quoted field is not closed";
        assert_eq!(read(b"id,value\n\"a,1\nb,2\nc,3"), [open, "b=2", "c=3"]);
        assert_eq!(read(b"id,value\n\"a,1\nb,2\n\"c\",3\n"), [open, "b=2", "c=3"]);
        assert_eq!(read(b"id,value\n\"a\"b,1\nc,3\n"), ["line 2: text behind a closing quote", "c=3"]);
        let long = "line 2: longer than 100 bytes";
        let text = b"id,value\n\"a,1\nb,2\n0123456789012345678901234567890123456789012345678901234567890123456789,3\n\
            0123456789012345678901234567890123456789012345678901234567890123456789,4\n";
        assert_eq!(read(text)[..2], [long, "b=2"]);
        assert_eq!(read(text)[2..].iter().map(|row| row.len()).collect::<Vec<_>>(), [72, 72]);
    }

    /// Read again from every line, this would take hours.
    #[test]
    fn open_quotes_without_end_cost_no_more_than_the_file() {
        let text = "id,value\n".to_owned() + &"a\"a,\"b\n".repeat(200_000);
        let rows = Csv::<Row>::new(io::Cursor::new(text.into_bytes()));
        assert_eq!(rows.filter(Result::is_err).count(), 200_000);
    }

    #[test]
    fn rows_that_are_too_long_are_not_held() {
        let text = format!("id,value\n\"{}\nb,2\n", "x,".repeat(1 << 20));
        let mut rows = Csv::<Row>::new(io::Cursor::new(text.into_bytes())).longest_row(50);
        assert_eq!(show(rows.next().unwrap()), "line 2: longer than 50 bytes");
        assert!(rows.rows.buffer.capacity() < 1_000);
        assert_eq!(show(rows.next().unwrap()), "b=2");
        assert_eq!(rows.position(), Position { line: 3, byte: 9 + (2 << 20) + 2 + 4 });
    }

    #[test]
    fn the_position_is_behind_the_last_row() {
        let text = b"\xef\xbb\xbfid,value\r\n\"a\r\n\",1\r\n\r\n\"b,2\r\nc,3\r\nd,4";
        let mut rows = Csv::<Row>::new(&text[..]);
        let mut positions = vec![(0, 0)];
        while rows.next().is_some() {
            positions.push((rows.position().line, rows.position().byte));
        }
        assert_eq!(positions, [(0, 0), (3, 22), (5, 30), (6, 35), (7, 38)]);
    }

    #[test]
    fn types_of_the_users_own_fail_with_the_name_of_their_field() {
        #[derive(Debug, Deserialize, PartialEq)]
        enum Kind {
            Buy,
        }
        #[derive(Debug, Deserialize)]
        struct Order {
            kind: Kind,
            size: Option<char>,
        }
        let text = b"kind,size\nBuy,\nSell,s\nBuy,xl\n";
        let orders: Vec<_> = Csv::<Order>::new(&text[..]).collect();
        let [Ok(order), Err(kind), Err(size)] = orders.as_slice() else { panic!("{orders:?}") };
        assert_eq!((&order.kind, order.size), (&Kind::Buy, None));
        assert_eq!(kind.to_string(), "line 3: field `kind`: unknown variant `Sell`, expected `Buy`");
        assert!(size.to_string().starts_with("line 4: field `size`: "), "{size}");
        let pairs: Vec<_> = Csv::<(String, u8)>::new(&b"a,b\nx,1\ny,-1\n"[..]).collect();
        assert_eq!(pairs[0].as_ref().unwrap(), &("x".to_owned(), 1));
        assert_eq!(pairs[1].as_ref().unwrap_err().to_string(), "line 3: field `b`: invalid digit found in string");
    }

    #[test]
    fn after_an_error_of_the_medium_the_position_is_before_the_unread_row() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("pulled out"))
            }
        }
        let mut rows = Csv::<Row>::new((&b"id,value\na,1\n\"b\n"[..]).chain(Broken));
        assert_eq!(show(rows.next().unwrap()), "a=1");
        assert_eq!(show(rows.next().unwrap()), "the input: pulled out");
        assert!(rows.next().is_none());
        assert_eq!(rows.position(), Position { line: 2, byte: 13 });
        let error = Csv::<Row>::open("no/such/file.csv").unwrap_err();
        assert!(error.to_string().starts_with("no/such/file.csv: "), "{error}");
    }
}
