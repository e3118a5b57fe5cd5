//! Durations as the core computes with them.

use std::fmt;
use std::time::Duration;

const MICROS_PER_SEC: i64 = 1_000_000;
const SECS_PER_DAY: i64 = 86_400;

/// A duration as the core computes with it: whole microseconds, not negative, saturated to what an `i64` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span(i64);

impl Span {
    pub(crate) const ZERO: Span = Span(0);

    pub(crate) fn of(duration: Duration) -> Self {
        Span(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
    }

    pub(crate) const fn from_micros(micros: i64) -> Self {
        Span(if micros < 0 { 0 } else { micros })
    }

    pub(crate) const fn as_micros(self) -> i64 {
        self.0
    }

    pub(crate) const fn plus(self, other: Span) -> Self {
        Span(self.0.saturating_add(other.0))
    }

    pub(crate) const fn is_for_ever(self) -> bool {
        self.0 == i64::MAX
    }

    pub(crate) const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// Whether a duration is a whole number of microseconds, as everything in event time has to be.
pub(crate) const fn whole_micros(duration: Duration) -> bool {
    duration.subsec_nanos().is_multiple_of(1_000)
}

/// Whether a duration fits in an `i64` of microseconds; if not, it means "for ever" where that makes sense.
pub(crate) const fn fits(duration: Duration) -> bool {
    duration.as_micros() <= i64::MAX as u128
}

/// In the spelling of the DSL: `10s`, `1500ms`, `2m`; the largest unit that needs no fraction.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(i64, &str); 7] = [
            (7 * SECS_PER_DAY * MICROS_PER_SEC, "w"),
            (SECS_PER_DAY * MICROS_PER_SEC, "d"),
            (3_600 * MICROS_PER_SEC, "h"),
            (60 * MICROS_PER_SEC, "m"),
            (MICROS_PER_SEC, "s"),
            (1_000, "ms"),
            (1, "us"),
        ];
        if self.is_for_ever() {
            return f.write_str("for ever");
        }
        if self.is_zero() {
            return f.write_str("0s");
        }
        match UNITS.iter().find(|(size, _)| self.0 % size == 0) {
            Some((size, unit)) => write!(f, "{}{unit}", self.0 / size),
            None => write!(f, "{}us", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{days, micros, millis, minutes, secs};

    #[test]
    fn spans_print_in_the_largest_whole_unit() {
        let cases = [
            (secs(0), "0s"),
            (secs(10), "10s"),
            (millis(1_500), "1500ms"),
            (minutes(2), "2m"),
            (days(14), "2w"),
            (micros(7), "7us"),
            (Duration::MAX, "for ever"),
        ];
        for (duration, text) in cases {
            assert_eq!(Span::of(duration).to_string(), text);
        }
    }
}
