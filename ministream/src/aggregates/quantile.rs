//! `quantile`: the value below which a share of the values lies, in little memory.

use std::fmt;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use sketches_ddsketch::{Config, DDSketch};

use super::methods::aggregate_method;
use super::summable::Summable;
use crate::aggregate::Aggregate;
use crate::error::AggregateError;
use crate::time::Timestamp;

/// The relative error of a quantile.
const RELATIVE_ERROR: f64 = 0.01;

/// Enough for all finite numbers, so that none are thrown together.
const MOST_BINS: u32 = 40_000;

/// Smaller values count as zero.
const SMALLEST: f64 = 1.0e-9;

/// A quantile of a value. See [`WindowedStream::quantile`](crate::WindowedStream::quantile).
pub struct Quantile<F, V> {
    value: F,
    q: f64,
    of: PhantomData<fn() -> V>,
}

impl<F, V> Quantile<F, V> {
    /// The quantile `q`, from 0 to 1, of what `value` takes out of each event.
    pub fn of<T>(value: F, q: f64) -> Self
    where
        F: Fn(&T) -> V + Send + 'static,
    {
        Quantile { value, q, of: PhantomData }
    }
}

aggregate_method! {
    /// The quantile `q` of `value` over the events of each window: 0.5 is the median, 0.99 the value that 99 % stay below.
    /// Of durations, in seconds. Needs the feature `sketches`.
    ///
    /// A DDSketch (Masson, Rim and Lee, "DDSketch: A Fast and Fully-Mergeable Quantile Sketch with Relative-Error
    /// Guarantees", VLDB 2019): the result is at most 1 % off the exact quantile, which is the value at place `q * (n - 1)`,
    /// rounded down, of the `n` values in order from place 0. Values nearer to zero than 10⁻⁹ count as zero. It counts in bins, so it is the same in any order. A window keeps 8 bytes for each 2 % step
    /// between its smallest and its largest value.
    ///
    /// A `q` outside of 0 to 1 is refused. A value that is NaN or infinite makes the result an error that names key and
    /// window.
    pub fn quantile<V, F>(value: F, q: f64) -> Quantile<F, V>
    where { V: Summable, F: Fn(&T) -> V + Send + 'static }
    = Quantile::of(value, q)
}

/// What a window keeps.
#[derive(Clone, Serialize, Deserialize)]
pub struct Bins {
    sketch: DDSketch,
    not_finite: bool,
}

impl<T, V: Summable, F: Fn(&T) -> V + Send + 'static> Aggregate<T> for Quantile<F, V> {
    type Acc = Bins;
    type Out = f64;

    fn create(&self) -> Bins {
        Bins { sketch: DDSketch::new(Config::new(RELATIVE_ERROR, MOST_BINS, SMALLEST)), not_finite: false }
    }

    fn add(&self, acc: &mut Bins, _at: Timestamp, event: &T) {
        let mut wide = V::Wide::default();
        (self.value)(event).add_to(&mut wide);
        let value = V::to_f64(&wide);
        if value.is_finite() {
            acc.sketch.add(value);
        } else {
            acc.not_finite = true;
        }
    }

    fn merge(&self, acc: &mut Bins, other: Bins) {
        acc.not_finite |= other.not_finite | acc.sketch.merge(&other.sketch).is_err();
    }

    fn finish(&self, acc: &Bins) -> Result<f64, AggregateError> {
        if acc.not_finite {
            return Err(AggregateError::new("one of the values is NaN or infinite"));
        }
        let quantile = acc.sketch.quantile(self.q).ok().flatten();
        quantile.ok_or_else(|| AggregateError::new("a window without events has no quantile"))
    }

    fn refusals(&self) -> Vec<String> {
        if (0.0..=1.0).contains(&self.q) {
            Vec::new()
        } else {
            vec![format!("q is {}, but has to lie between 0 and 1", self.q)]
        }
    }

    fn name(&self) -> &'static str {
        "quantile"
    }
}

impl fmt::Debug for Bins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bins")
    }
}

impl<F, V> fmt::Debug for Quantile<F, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quantile").field("q", &self.q).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantile(q: f64, values: &[f64]) -> Result<f64, AggregateError> {
        let aggregate = Quantile::of(|value: &f64| *value, q);
        let mut acc = aggregate.create();
        values.iter().for_each(|value| aggregate.add(&mut acc, Timestamp::EPOCH, value));
        aggregate.finish(&acc)
    }

    #[test]
    fn quantiles_stay_within_the_error() {
        let mut values: Vec<f64> = (-300..700).map(|n| f64::from(n) * 1.7).collect();
        values.extend([1.0e300, -1.0e300, 1.0e-5, 0.0]);
        values.sort_by(f64::total_cmp);
        for q in [0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 0.999, 1.0] {
            let rank = (q * (values.len() - 1) as f64).floor();
            let exact = values[rank as usize];
            let found = quantile(q, &values).unwrap();
            assert!((found - exact).abs() <= exact.abs() * 0.0101 + 1.0e-9, "{q}: {found} for {exact}");
        }
    }

    #[test]
    fn no_order_of_adding_and_merging_changes_the_quantile() {
        let aggregate = Quantile::of(|value: &f64| *value, 0.9);
        let values: Vec<f64> = (0..500).map(|n| f64::from(n * 7919 % 503) - 100.0).collect();
        let mut parts = [aggregate.create(), aggregate.create()];
        for (n, value) in values.iter().enumerate().rev() {
            aggregate.add(&mut parts[n % 2], Timestamp::EPOCH, value);
        }
        let [a, mut merged] = parts;
        aggregate.merge(&mut merged, a);
        assert_eq!(aggregate.finish(&merged), quantile(0.9, &values));
    }

    #[test]
    fn zeros_of_both_signs_are_one_value() {
        for values in [[0.0, -0.0], [-0.0, 0.0], [-0.0, -0.0]] {
            for q in [0.0, 0.5, 1.0] {
                assert_eq!(quantile(q, &values).map(f64::to_bits), Ok(0), "{q} of {values:?}");
            }
        }
    }

    #[test]
    fn what_is_stored_gives_the_same() {
        let aggregate = Quantile::of(|value: &f64| *value, 0.7);
        for values in [&[][..], &[1.5], &[f64::MAX, f64::MIN, 1e-300, 0.0, f64::NAN], &[f64::MAX, f64::MAX, -3.0, 8.0]]
        {
            let mut acc = aggregate.create();
            values.iter().for_each(|value| aggregate.add(&mut acc, Timestamp::EPOCH, value));
            let bytes = postcard::to_allocvec(&acc).unwrap();
            let read: Bins = postcard::from_bytes(&bytes).unwrap();
            assert_eq!(aggregate.finish(&read), aggregate.finish(&acc), "{values:?}");
        }
    }

    #[test]
    fn what_is_no_number_has_no_quantile() {
        assert_eq!(quantile(0.5, &[1.0, f64::NAN]), Err(AggregateError::new("one of the values is NaN or infinite")));
        let refused = |q: f64| Aggregate::<f64>::refusals(&Quantile::of(|value: &f64| *value, q));
        assert_eq!(refused(99.0), ["q is 99, but has to lie between 0 and 1"]);
        assert_eq!(refused(f64::NAN), ["q is NaN, but has to lie between 0 and 1"]);
        assert_eq!(refused(1.0), [] as [&str; 0]);
    }
}
