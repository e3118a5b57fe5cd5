//! What `sum` and `mean` add up: exactly, wider than the values, in any order.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::exact::ExactSum;
use crate::error::AggregateError;
use crate::event::Data;

/// What can be summed: integers, floats, and [`Duration`]s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be summed",
    label = "not a number",
    note = "integers, floats and `Duration` can; take a number out of the event, or count with `count()`"
)]
pub trait Summable: Data {
    /// What sums are kept in: wide enough not to overflow, and independent of the order.
    type Wide: Data + Default;

    /// Adds the value.
    fn add_to(self, wide: &mut Self::Wide);

    /// Adds another sum.
    fn merge(wide: &mut Self::Wide, other: Self::Wide);

    /// Takes out another sum, which was merged before: exactly. False, always, if that cannot be done.
    fn unmerge(_wide: &mut Self::Wide, _other: &Self::Wide) -> bool {
        false
    }

    /// The sum in the type of the values.
    ///
    /// # Errors
    ///
    /// If it does not fit.
    fn narrow(wide: &Self::Wide) -> Result<Self, AggregateError>;

    /// The sum as a float, for means: rounded, and never an error.
    fn to_f64(wide: &Self::Wide) -> f64;
}

fn does_not_fit(sum: impl fmt::Display, type_name: &str) -> AggregateError {
    AggregateError::new(format!("the sum {sum} does not fit in {type_name}"))
}

/// Sums of up to 2^64 values of at most 64 bits fit in 128 bits.
macro_rules! narrow_integers {
    ($($integer:ty),*) => {$(
        impl Summable for $integer {
            type Wide = i128;

            #[inline]
            fn add_to(self, wide: &mut i128) {
                *wide += i128::try_from(self).unwrap_or_default();
            }

            fn merge(wide: &mut i128, other: i128) {
                *wide += other;
            }

            fn unmerge(wide: &mut i128, other: &i128) -> bool {
                *wide -= other;
                true
            }

            fn narrow(wide: &i128) -> Result<Self, AggregateError> {
                Self::try_from(*wide).map_err(|_| does_not_fit(wide, stringify!($integer)))
            }

            fn to_f64(wide: &i128) -> f64 {
                *wide as f64
            }
        }
    )*};
}

narrow_integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

/// A sum of 128-bit integers: `high * 2^128 + low`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wide256 {
    high: i128,
    low: u128,
}

impl Wide256 {
    fn add(&mut self, high: i128, low: u128) {
        let (sum, carry) = self.low.overflowing_add(low);
        self.low = sum;
        self.high = self.high.wrapping_add(high).wrapping_add(i128::from(carry));
    }

    fn to_f64(self) -> f64 {
        match i128::try_from(self) {
            Ok(small) => small as f64,
            Err(()) => self.high as f64 * 2_f64.powi(128) + self.low as f64,
        }
    }
}

impl TryFrom<Wide256> for i128 {
    type Error = ();

    fn try_from(wide: Wide256) -> Result<i128, ()> {
        let small = wide.low.cast_signed();
        if wide.high == small >> 127 { Ok(small) } else { Err(()) }
    }
}

impl TryFrom<Wide256> for u128 {
    type Error = ();

    fn try_from(wide: Wide256) -> Result<u128, ()> {
        if wide.high == 0 { Ok(wide.low) } else { Err(()) }
    }
}

macro_rules! wide_integers {
    ($($integer:ty: $value:ident => $high:expr, $low:expr;)*) => {$(
        impl Summable for $integer {
            type Wide = Wide256;

            fn add_to(self, wide: &mut Wide256) {
                let $value = self;
                wide.add($high, $low);
            }

            fn merge(wide: &mut Wide256, other: Wide256) {
                wide.add(other.high, other.low);
            }

            fn narrow(wide: &Wide256) -> Result<Self, AggregateError> {
                Self::try_from(*wide).map_err(|()| does_not_fit(wide.to_f64(), stringify!($integer)))
            }

            fn to_f64(wide: &Wide256) -> f64 {
                wide.to_f64()
            }
        }
    )*};
}

wide_integers! {
    i128: value => value >> 127, value.cast_unsigned();
    u128: value => 0, value;
}

impl Summable for f64 {
    type Wide = ExactSum;

    #[inline]
    fn add_to(self, wide: &mut ExactSum) {
        wide.add(self);
    }

    fn merge(wide: &mut ExactSum, other: ExactSum) {
        wide.merge(&other);
    }

    fn narrow(wide: &ExactSum) -> Result<f64, AggregateError> {
        Ok(wide.value())
    }

    fn to_f64(wide: &ExactSum) -> f64 {
        wide.value()
    }
}

impl Summable for f32 {
    type Wide = ExactSum;

    #[inline]
    fn add_to(self, wide: &mut ExactSum) {
        wide.add(f64::from(self));
    }

    fn merge(wide: &mut ExactSum, other: ExactSum) {
        wide.merge(&other);
    }

    fn narrow(wide: &ExactSum) -> Result<f32, AggregateError> {
        Ok(wide.value_f32())
    }

    fn to_f64(wide: &ExactSum) -> f64 {
        wide.value()
    }
}

/// Kept in nanoseconds. The mean of durations is a number of seconds.
impl Summable for Duration {
    type Wide = u128;

    fn add_to(self, wide: &mut u128) {
        *wide = wide.saturating_add(self.as_nanos());
    }

    fn merge(wide: &mut u128, other: u128) {
        *wide = wide.saturating_add(other);
    }

    fn narrow(wide: &u128) -> Result<Duration, AggregateError> {
        const NANOS_PER_SEC: u128 = 1_000_000_000;
        let secs = u64::try_from(wide / NANOS_PER_SEC).map_err(|_| does_not_fit(wide, "Duration"))?;
        let nanos = u32::try_from(wide % NANOS_PER_SEC).unwrap_or_default();
        Ok(Duration::new(secs, nanos))
    }

    fn to_f64(wide: &u128) -> f64 {
        *wide as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum<V: Summable>(values: impl IntoIterator<Item = V>) -> Result<V, AggregateError> {
        let mut wide = V::Wide::default();
        for value in values {
            value.add_to(&mut wide);
        }
        V::narrow(&wide)
    }

    #[test]
    fn sums_may_leave_the_type_on_the_way_but_not_in_the_end() {
        assert_eq!(sum([i64::MAX, 1, -1]), Ok(i64::MAX));
        assert_eq!(sum([i64::MAX, 1]), Err(does_not_fit(9_223_372_036_854_775_808_u64, "i64")));
        assert_eq!(sum([200_u8, 55]), Ok(255));
        assert_eq!(sum([200_u8, 56]), Err(does_not_fit(256, "u8")));
        assert_eq!(sum([u64::MAX, 0]), Ok(u64::MAX));
        assert_eq!(sum([i128::MAX, 1, -1]), Ok(i128::MAX));
        assert_eq!(sum([i128::MIN, -1, 1]), Ok(i128::MIN));
        assert_eq!(sum([-3_i128, 2]), Ok(-1));
        assert!(sum([i128::MAX, 1]).is_err());
        assert!(sum([i128::MIN, -1]).is_err());
        assert_eq!(sum([u128::MAX]), Ok(u128::MAX));
        assert!(sum([u128::MAX, 1]).is_err());
        assert_eq!(sum([Duration::MAX]), Ok(Duration::MAX));
        assert!(sum([Duration::MAX, Duration::from_nanos(1)]).is_err());
        assert_eq!(sum([0.1_f64, 0.2, 0.3, 1e300, -1e300]), Ok(0.6));
    }
}
