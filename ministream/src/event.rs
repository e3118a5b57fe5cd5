//! What a pipeline is fed with: [`Event`]s, and the bounds on what is stored.

use std::fmt::Debug;
use std::hash::Hash;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::span::Span;
use crate::time::Timestamp;

#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "jiff")]
mod jiff;

/// A record with an event time: the instant at which what it tells of happened.
///
/// Usually derived. An integer field needs a unit (`"s"`, `"ms"`, `"us"` or `"ns"`); fields of type [`Timestamp`],
/// [`SystemTime`], and with the features `jiff` and `chrono` the instants of those crates, need none.
///
/// ```
/// use ministream::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Debug, Serialize, Deserialize, Event)]
/// struct Click {
///     user: String,
///     #[event(time, unit = "ms")]
///     ts: i64,
/// }
///
/// let click = Click { user: "alice".into(), ts: 1_500 };
/// assert_eq!(click.timestamp(), Timestamp::from_millis(1_500));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no event time",
    label = "not an event",
    note = "derive it: `#[derive(Event)]`, with `#[event(time, unit = \"ms\")]` on the field that holds the time"
)]
pub trait Event {
    /// The event time. It has to be the same each time it is asked.
    fn timestamp(&self) -> Timestamp;
}

/// What can be stored, checkpointed and shipped: events, keys, accumulators and results.
///
/// Implemented for every type with these bounds; there is nothing to write but the derives.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored by a pipeline",
    label = "not `Data`",
    note = "derive what is missing: `#[derive(Clone, Serialize, Deserialize)]`; the type must own what it holds (`Send + 'static`)"
)]
pub trait Data: Clone + Serialize + DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Serialize + DeserializeOwned + Send + 'static> Data for T {}

/// What a stream can be keyed by: results come in the order of `Ord`, lookups go by `Hash`, errors name the key by
/// `Debug`.
///
/// Floats are no keys: they have no total order, and `NaN` is not even equal to itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a key",
    label = "not a key",
    note = "a key is `Ord + Hash + Debug` and `Data`; floats are none of the first two: key by an integer, a string, or a field rounded to an integer",
    note = "for a type of your own: `#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]`"
)]
pub trait Key: Data + Ord + Hash + Debug {}

#[diagnostic::do_not_recommend]
impl<K: Data + Ord + Hash + Debug> Key for K {}

/// What `dedup` can compare: the identity of an event.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot identify an event",
    label = "not an id",
    note = "an id is `Eq + Hash` and `Data`; floats are neither: use an integer or a string",
    note = "for a type of your own: `#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]`"
)]
pub trait Id: Data + Eq + Hash {}

#[diagnostic::do_not_recommend]
impl<I: Data + Eq + Hash> Id for I {}

/// An instant that says by its type what it counts in, so that `#[event(time)]` needs no unit.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no event time by itself",
    label = "needs a unit, or another type",
    note = "integers need a unit: `#[event(time, unit = \"ms\")]`; without one: `Timestamp`, `SystemTime`, and with the features `jiff` and `chrono` the instants of those crates"
)]
pub trait EventTime {
    /// The same instant as a [`Timestamp`]: rounded down to the microsecond, saturated.
    fn to_timestamp(&self) -> Timestamp;
}

impl EventTime for Timestamp {
    fn to_timestamp(&self) -> Timestamp {
        *self
    }
}

impl EventTime for SystemTime {
    fn to_timestamp(&self) -> Timestamp {
        match self.duration_since(UNIX_EPOCH) {
            Ok(after) => Timestamp::EPOCH.plus(Span::of(after)),
            Err(before) => from_nanos(-i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX)),
        }
    }
}

/// What an integer event time counts.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// `unit = "s"`
    Seconds,
    /// `unit = "ms"`
    Milliseconds,
    /// `unit = "us"`
    Microseconds,
    /// `unit = "ns"`
    Nanoseconds,
}

/// An integer that can be an event time, once a unit is said.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer, so `unit` does not fit it",
    label = "not an integer",
    note = "leave `unit` out for `Timestamp`, `SystemTime`, `jiff` and `chrono` instants; convert other types in an `impl Event`"
)]
pub trait IntegerTime {
    /// The value, saturated.
    fn to_i128(self) -> i128;
}

macro_rules! integer_times {
    ($($integer:ty),*) => {$(
        impl IntegerTime for $integer {
            #[inline]
            fn to_i128(self) -> i128 {
                i128::try_from(self).unwrap_or(i128::MAX)
            }
        }
    )*};
}

integer_times!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

/// An integer count as a timestamp: rounded down to the microsecond, saturated.
#[inline]
pub fn timestamp_from_integer(count: impl IntegerTime, unit: Unit) -> Timestamp {
    let count = count.to_i128();
    match unit {
        Unit::Seconds => saturated(count.saturating_mul(1_000_000)),
        Unit::Milliseconds => saturated(count.saturating_mul(1_000)),
        Unit::Microseconds => saturated(count),
        Unit::Nanoseconds => from_nanos(count),
    }
}

fn from_nanos(nanos: i128) -> Timestamp {
    saturated(nanos.div_euclid(1_000))
}

fn saturated(micros: i128) -> Timestamp {
    let clamped = micros.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    Timestamp::from_micros(i64::try_from(clamped).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn integers_count_in_their_unit_and_saturate() {
        let cases = [
            (timestamp_from_integer(3_u8, Unit::Seconds), 3_000_000),
            (timestamp_from_integer(-3_i64, Unit::Milliseconds), -3_000),
            (timestamp_from_integer(-1_i64, Unit::Nanoseconds), -1),
            (timestamp_from_integer(1_999_u64, Unit::Nanoseconds), 1),
            (timestamp_from_integer(u64::MAX, Unit::Microseconds), i64::MAX),
            (timestamp_from_integer(i64::MIN, Unit::Seconds), i64::MIN),
            (timestamp_from_integer(u128::MAX, Unit::Seconds), i64::MAX),
            (timestamp_from_integer(i128::MIN, Unit::Milliseconds), i64::MIN),
        ];
        for (ts, micros) in cases {
            assert_eq!(ts.as_micros(), micros);
        }
    }

    #[test]
    fn system_times_round_down_on_both_sides_of_the_epoch() {
        let after = UNIX_EPOCH + Duration::from_nanos(1_999);
        let before = UNIX_EPOCH - Duration::from_nanos(1);
        assert_eq!(after.to_timestamp().as_micros(), 1);
        assert_eq!(before.to_timestamp().as_micros(), -1);
    }
}
