//! Event time: [`Timestamp`], and durations for it.
//!
//! A timestamp is a count of microseconds since the Unix epoch. Durations are [`std::time::Duration`]; the functions
//! here ([`secs`], [`millis`], …) are short ways to write them. All arithmetic with timestamps saturates.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::span::{Span, whole_micros};

const MICROS_PER_SEC: i64 = 1_000_000;
const SECS_PER_DAY: i64 = 86_400;

/// An instant of event time: microseconds since the Unix epoch, negative before it.
///
/// Arithmetic saturates at [`Timestamp::MIN`] and [`Timestamp::MAX`].
///
/// `Display` writes UTC time of day, with the date in front unless it is the first of January 1970, so that tests which
/// count from the epoch stay readable: `00:00:10`, `2015-05-17 10:05:03.250`.
///
/// ```
/// use ministream::prelude::*;
///
/// let ts = Timestamp::from_millis(1_500);
/// assert_eq!(ts.as_micros(), 1_500_000);
/// assert_eq!((ts + secs(10)).to_string(), "00:00:11.500");
/// assert_eq!(Timestamp::MAX + secs(1), Timestamp::MAX);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The earliest timestamp.
    pub const MIN: Timestamp = Timestamp(i64::MIN);
    /// The latest timestamp.
    pub const MAX: Timestamp = Timestamp(i64::MAX);
    /// The Unix epoch, 1970-01-01 00:00:00 UTC.
    pub const EPOCH: Timestamp = Timestamp(0);

    /// The instant `micros` microseconds after the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Timestamp(micros)
    }

    /// The instant `millis` milliseconds after the epoch; saturates.
    pub const fn from_millis(millis: i64) -> Self {
        Timestamp(millis.saturating_mul(1_000))
    }

    /// The instant `secs` seconds after the epoch; saturates.
    pub const fn from_secs(secs: i64) -> Self {
        Timestamp(secs.saturating_mul(MICROS_PER_SEC))
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole milliseconds since the epoch, rounded down.
    pub const fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// How far this instant lies behind `later`; zero if it does not.
    pub const fn until(self, later: Timestamp) -> Duration {
        if later.0 <= self.0 { Duration::ZERO } else { Duration::from_micros(later.0.abs_diff(self.0)) }
    }

    pub(crate) const fn plus(self, span: Span) -> Self {
        Timestamp(self.0.saturating_add(span.as_micros()))
    }

    pub(crate) const fn minus(self, span: Span) -> Self {
        Timestamp(self.0.saturating_sub(span.as_micros()))
    }

    /// Days since the epoch and microseconds of that day.
    const fn day_and_micros(self) -> (i64, i64) {
        let micros_per_day = SECS_PER_DAY * MICROS_PER_SEC;
        (self.0.div_euclid(micros_per_day), self.0.rem_euclid(micros_per_day))
    }
}

/// Saturates at [`Timestamp::MAX`]; parts of a microsecond are cut off.
impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, duration: Duration) -> Timestamp {
        self.plus(Span::of(duration))
    }
}

/// Saturates at [`Timestamp::MIN`]; parts of a microsecond are cut off.
impl Sub<Duration> for Timestamp {
    type Output = Timestamp;

    fn sub(self, duration: Duration) -> Timestamp {
        self.minus(Span::of(duration))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (day, _) = self.day_and_micros();
        if day != 0 {
            write_date(f, day)?;
            f.write_str(" ")?;
        }
        write_time_of_day(f, *self)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes `[start, end)`; the date of the end only where it is another day, and for all of time no dates at all.
pub(crate) fn write_interval(f: &mut fmt::Formatter<'_>, start: Timestamp, end: Timestamp) -> fmt::Result {
    if (start, end) == (Timestamp::MIN, Timestamp::MAX) {
        return f.write_str("[all time)");
    }
    write!(f, "[{start}, ")?;
    if start.day_and_micros().0 == end.day_and_micros().0 {
        write_time_of_day(f, end)?;
    } else {
        write_date(f, end.day_and_micros().0)?;
        f.write_str(" ")?;
        write_time_of_day(f, end)?;
    }
    f.write_str(")")
}

fn write_time_of_day(f: &mut fmt::Formatter<'_>, ts: Timestamp) -> fmt::Result {
    let (_, micros) = ts.day_and_micros();
    let (secs, fraction) = (micros / MICROS_PER_SEC, micros % MICROS_PER_SEC);
    write!(f, "{:02}:{:02}:{:02}", secs / 3_600, secs / 60 % 60, secs % 60)?;
    match fraction {
        0 => Ok(()),
        _ if fraction % 1_000 == 0 => write!(f, ".{:03}", fraction / 1_000),
        _ => write!(f, ".{fraction:06}"),
    }
}

/// Writes the proleptic Gregorian date of a day counted from the epoch.
///
/// The algorithm is Howard Hinnant's `civil_from_days`
/// (<https://howardhinnant.github.io/date_algorithms.html#civil_from_days>): years begin in March, in eras of 400.
fn write_date(f: &mut fmt::Formatter<'_>, day: i64) -> fmt::Result {
    const DAYS_PER_ERA: i64 = 146_097;
    const DAYS_FROM_ERA_START_TO_EPOCH: i64 = 719_468;
    let shifted = day + DAYS_FROM_ERA_START_TO_EPOCH;
    let (era, day_of_era) = (shifted.div_euclid(DAYS_PER_ERA), shifted.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    write!(f, "{year:04}-{month:02}-{day_of_month:02}")
}

/// `n` microseconds.
pub const fn micros(n: u64) -> Duration {
    Duration::from_micros(n)
}

/// `n` milliseconds.
pub const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// `n` seconds.
///
/// ```
/// assert_eq!(ministream::time::secs(3), std::time::Duration::from_secs(3));
/// ```
pub const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// `n` minutes; saturates.
pub const fn minutes(n: u64) -> Duration {
    Duration::from_secs(n.saturating_mul(60))
}

/// `n` hours; saturates.
pub const fn hours(n: u64) -> Duration {
    Duration::from_secs(n.saturating_mul(3_600))
}

/// `n` days of 24 hours; saturates.
pub const fn days(n: u64) -> Duration {
    Duration::from_secs(n.saturating_mul(86_400))
}

/// How far one instant lies from another, to either side: [`before`] or [`after`] it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    before: bool,
    by: Duration,
}

/// This much earlier, as in `before(secs(5))..=after(secs(10))`.
pub const fn before(by: Duration) -> Offset {
    Offset { before: true, by }
}

/// This much later, as in `before(secs(5))..=after(secs(10))`.
pub const fn after(by: Duration) -> Offset {
    Offset { before: false, by }
}

impl Offset {
    /// Microseconds, negative before.
    pub(crate) fn as_micros(self) -> i64 {
        let micros = Span::of(self.by).as_micros();
        if self.before { -micros } else { micros }
    }

    pub(crate) const fn is_whole(self) -> bool {
        whole_micros(self.by)
    }
}

/// In the spelling of the DSL: `-5s`, `10s`.
impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let span = Span::of(self.by);
        let sign = if self.before && !span.is_zero() { "-" } else { "" };
        write!(f, "{sign}{span}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(start: i64, end: i64) -> String {
        struct Interval(Timestamp, Timestamp);
        impl fmt::Display for Interval {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_interval(f, self.0, self.1)
            }
        }
        Interval(Timestamp::from_millis(start), Timestamp::from_millis(end)).to_string()
    }

    #[test]
    fn timestamps_print_as_utc() {
        let cases = [
            (0, "00:00:00"),
            (43_200_000_000, "12:00:00"),
            (1_250_000, "00:00:01.250"),
            (1, "00:00:00.000001"),
            (-1, "1969-12-31 23:59:59.999999"),
            (1_431_857_103_250_000, "2015-05-17 10:05:03.250"),
            (951_782_400_000_000, "2000-02-29 00:00:00"),
            (-62_135_596_800_000_000, "0001-01-01 00:00:00"),
            (i64::MAX, "294247-01-10 04:00:54.775807"),
            (i64::MIN, "-290308-12-21 19:59:05.224192"),
        ];
        for (micros, text) in cases {
            assert_eq!(Timestamp::from_micros(micros).to_string(), text);
        }
    }

    #[test]
    fn intervals_name_the_second_day_only_where_it_differs() {
        assert_eq!(interval(0, 10_000), "[00:00:00, 00:00:10)");
        assert_eq!(interval(-10_000, 0), "[1969-12-31 23:59:50, 1970-01-01 00:00:00)");
        assert_eq!(interval(1_431_857_100_000, 1_431_857_160_000), "[2015-05-17 10:05:00, 10:06:00)");
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Timestamp::MAX + secs(1), Timestamp::MAX);
        assert_eq!(Timestamp::MIN - Duration::MAX, Timestamp::MIN);
        assert_eq!(Timestamp::EPOCH + Duration::MAX, Timestamp::MAX);
        assert_eq!(Timestamp::from_secs(i64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::from_millis(i64::MIN), Timestamp::MIN);
        assert_eq!(Timestamp::MIN.until(Timestamp::MAX), Duration::from_micros(u64::MAX));
        assert_eq!(Timestamp::from_micros(-1).as_millis(), -1);
    }
}
