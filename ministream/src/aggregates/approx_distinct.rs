//! `approx_distinct`: about how many different values there are, in little memory.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use datasketches::hll::{HllSketch, HllType, HllUnion};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::methods::aggregate_method;
use crate::aggregate::Aggregate;
use crate::encoding::encoded;
use crate::error::AggregateError;
use crate::event::Key;
use crate::time::Timestamp;

/// 2^12 registers of a byte.
const LG_REGISTERS: u8 = 12;

/// About how many different values there are. See
/// [`WindowedStream::approx_distinct`](crate::WindowedStream::approx_distinct).
pub struct ApproxDistinct<F, V> {
    value: F,
    counts: PhantomData<fn() -> V>,
}

impl<F, V> ApproxDistinct<F, V> {
    /// Of what `value` takes out of each event.
    pub fn of<T>(value: F) -> Self
    where
        F: Fn(&T) -> V + Send + 'static,
    {
        ApproxDistinct { value, counts: PhantomData }
    }
}

aggregate_method! {
    /// About how many different values there are in each window, in about 4 KiB a window. Needs the feature `sketches`.
    ///
    /// A HyperLogLog sketch of [Apache DataSketches](https://datasketches.apache.org) with 4,096 registers: the relative
    /// standard error is 1.04 / √4096 = 1.6 %, and up to some hundred values there is next to none. The estimate is the one
    /// that depends on the registers alone (Flajolet and others, "HyperLogLog", 2007, with the corrections of
    /// DataSketches), so it is the same in any order. Values are told apart by a fixed hash of their encoding.
    pub fn approx_distinct<V, F>(value: F) -> ApproxDistinct<F, V>
    where { V: Key, F: Fn(&T) -> V + Send + 'static }
    = ApproxDistinct::of(value)
}

/// What a window keeps.
#[derive(Clone, Default)]
pub struct Values {
    /// None before the first value.
    sketch: Option<HllSketch>,
    not_encoded: bool,
}

/// Hashed as they are. The `Hash` of a slice puts its length in front, whose size is that of the machine.
struct Bytes(Vec<u8>);

impl Hash for Bytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(&self.0);
    }
}

impl<T, V: Key, F: Fn(&T) -> V + Send + 'static> Aggregate<T> for ApproxDistinct<F, V> {
    type Acc = Values;
    type Out = u64;

    fn create(&self) -> Values {
        Values::default()
    }

    fn add(&self, acc: &mut Values, _at: Timestamp, event: &T) {
        let Some(bytes) = encoded(&(self.value)(event)) else {
            acc.not_encoded = true;
            return;
        };
        if acc.sketch.is_none() {
            acc.sketch = HllSketch::new(LG_REGISTERS, HllType::Hll8).ok();
        }
        if let Some(sketch) = &mut acc.sketch {
            sketch.update(Bytes(bytes));
        }
    }

    fn merge(&self, acc: &mut Values, other: Values) {
        acc.not_encoded |= other.not_encoded;
        let (Some(one), Some(two)) = (&acc.sketch, &other.sketch) else {
            acc.sketch = acc.sketch.take().or(other.sketch);
            return;
        };
        if let Ok(mut union) = HllUnion::new(LG_REGISTERS) {
            union.update(one);
            union.update(two);
            acc.sketch = Some(union.to_sketch(HllType::Hll8));
        }
    }

    fn finish(&self, acc: &Values) -> Result<u64, AggregateError> {
        if acc.not_encoded {
            return Err(AggregateError::new("one of the values cannot be serialized"));
        }
        let estimate = acc.sketch.as_ref().map_or(0.0, HllSketch::composite_estimate).round();
        // A float becomes the nearest integer that fits.
        Ok(estimate as u64)
    }

    fn name(&self) -> &'static str {
        "approx_distinct"
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.sketch.as_ref().map(HllSketch::serialize), self.not_encoded).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (bytes, not_encoded) = <(Option<Vec<u8>>, bool)>::deserialize(deserializer)?;
        let sketch = bytes.map(|bytes| HllSketch::deserialize(&bytes).map_err(de::Error::custom));
        Ok(Values { sketch: sketch.transpose()?, not_encoded })
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Values")
    }
}

impl<F, V> fmt::Debug for ApproxDistinct<F, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApproxDistinct")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(values: impl Iterator<Item = u64>) -> u64 {
        let aggregate = ApproxDistinct::of(|value: &u64| *value);
        let mut acc = aggregate.create();
        values.for_each(|value| aggregate.add(&mut acc, Timestamp::EPOCH, &value));
        aggregate.finish(&acc).unwrap()
    }

    #[test]
    fn estimates_stay_within_the_error() {
        for n in [0, 1, 2, 10, 100] {
            assert_eq!(estimate((0..n).chain(0..n)), n);
        }
        for n in [1_000, 10_000, 200_000] {
            let (estimate, exact) = (estimate(0..n) as f64, n as f64);
            assert!((estimate - exact).abs() < exact * 3.0 * 0.016, "{estimate} of {exact}");
        }
    }

    #[test]
    fn the_hash_is_always_the_same() {
        assert_eq!([1_000, 10_000, 100_000].map(|n| estimate(0..n)), [1_006, 9_931, 100_499]);
    }

    #[test]
    fn a_value_that_cannot_be_serialized_is_an_error() {
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        struct Secret(u8);
        impl Serialize for Secret {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if self.0 == 0 { Err(serde::ser::Error::custom("no")) } else { self.0.serialize(serializer) }
            }
        }
        let aggregate = ApproxDistinct::of(|value: &u8| Secret(*value));
        let count = |values: &[u8]| {
            let mut acc = aggregate.create();
            for value in values {
                let mut other = aggregate.create();
                aggregate.add(&mut other, Timestamp::EPOCH, value);
                aggregate.merge(&mut acc, other);
            }
            aggregate.finish(&acc)
        };
        assert_eq!(count(&[1, 2, 2]), Ok(2));
        assert_eq!(count(&[1, 0, 2]), Err(AggregateError::new("one of the values cannot be serialized")));
    }

    #[test]
    fn no_order_of_adding_and_merging_changes_the_estimate() {
        let aggregate = ApproxDistinct::of(|value: &u64| *value);
        for n in [5_u64, 100, 700, 5_000] {
            let mut parts = [aggregate.create(), aggregate.create(), aggregate.create()];
            for value in (0..n).rev() {
                let part = usize::try_from(value % 7 % 3).unwrap();
                aggregate.add(&mut parts[part], Timestamp::EPOCH, &value);
            }
            let [a, b, c] = parts;
            let mut merged = c;
            aggregate.merge(&mut merged, a);
            aggregate.merge(&mut merged, b);
            assert_eq!(aggregate.finish(&merged).unwrap(), estimate(0..n), "{n}");
            let bytes = postcard::to_allocvec(&merged).unwrap();
            let read: Values = postcard::from_bytes(&bytes).unwrap();
            assert_eq!(aggregate.finish(&read).unwrap(), estimate(0..n));
        }
    }
}
