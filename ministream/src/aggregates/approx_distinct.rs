//! `approx_distinct`: about how many different values there are, in little memory.

use std::fmt;
use std::marker::PhantomData;

use datasketches::hll::{HllSketch, HllType, HllUnion};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::methods::aggregate_method;
use crate::aggregate::Aggregate;
use crate::encoding::encoded;
use crate::error::AggregateError;
use crate::event::Data;
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
    /// About how many different values there are in each window, in at most 4 KiB a window. Needs the feature `sketches`.
    ///
    /// A HyperLogLog sketch of [Apache DataSketches](https://datasketches.apache.org) with 4,096 registers: the relative
    /// standard error is 1.04 / √4096 = 1.6 %, and up to some hundred values there is next to none. The estimate is the one
    /// that depends on the registers alone (Flajolet and others, "HyperLogLog", 2007, with the corrections of
    /// DataSketches), so it is the same in any order.
    pub fn approx_distinct<V, F>(value: F) -> ApproxDistinct<F, V>
    where { V: Data, F: Fn(&T) -> V + Send + 'static }
    = ApproxDistinct::of(value)
}

/// What a window keeps: nothing before the first value.
#[derive(Clone, Default)]
pub struct Values(Option<HllSketch>);

impl<T, V: Data, F: Fn(&T) -> V + Send + 'static> Aggregate<T> for ApproxDistinct<F, V> {
    type Acc = Values;
    type Out = u64;

    fn create(&self) -> Values {
        Values::default()
    }

    fn add(&self, acc: &mut Values, _at: Timestamp, event: &T) {
        if acc.0.is_none() {
            acc.0 = HllSketch::new(LG_REGISTERS, HllType::Hll8).ok();
        }
        if let Some(sketch) = &mut acc.0 {
            // By its encoding, so that the hash is the same on every machine.
            sketch.update(encoded(&(self.value)(event)));
        }
    }

    fn merge(&self, acc: &mut Values, other: Values) {
        let (Some(one), Some(two)) = (&acc.0, &other.0) else {
            acc.0 = acc.0.take().or(other.0);
            return;
        };
        if let Ok(mut union) = HllUnion::new(LG_REGISTERS) {
            union.update(one);
            union.update(two);
            acc.0 = Some(union.to_sketch(HllType::Hll8));
        }
    }

    fn finish(&self, acc: &Values) -> Result<u64, AggregateError> {
        let estimate = acc.0.as_ref().map_or(0.0, HllSketch::composite_estimate).round();
        // A float becomes the nearest integer that fits.
        Ok(estimate as u64)
    }

    fn name(&self) -> &'static str {
        "approx_distinct"
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().map(HllSketch::serialize).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Option::<Vec<u8>>::deserialize(deserializer)?;
        let sketch = bytes.map(|bytes| HllSketch::deserialize(&bytes).map_err(de::Error::custom));
        Ok(Values(sketch.transpose()?))
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
