//! `mean`: the arithmetic mean.

use std::fmt;
use std::marker::PhantomData;

use super::methods::aggregate_method;
use super::summable::Summable;
use crate::aggregate::Aggregate;
use crate::error::AggregateError;
use crate::time::Timestamp;

/// The mean of a value. See [`WindowedStream::mean`](crate::WindowedStream::mean).
pub struct Mean<F, V> {
    value: F,
    means: PhantomData<fn() -> V>,
}

impl<F, V> Mean<F, V> {
    /// The mean of what `value` takes out of each event.
    pub fn of<T>(value: F) -> Self
    where
        F: Fn(&T) -> V + Send + 'static,
    {
        Mean { value, means: PhantomData }
    }
}

aggregate_method! {
    /// The mean of `value` over the events of each window: the exact sum and the count, each rounded to `f64`, divided.
    /// Of durations, in seconds.
    pub fn mean<V, F>(value: F) -> Mean<F, V>
    where { V: Summable, F: Fn(&T) -> V + Send + 'static, }
    = Mean::of(value)
}

impl<T, V: Summable, F: Fn(&T) -> V + Send + 'static> Aggregate<T> for Mean<F, V> {
    type Acc = (V::Wide, u64);
    type Out = f64;

    fn create(&self) -> Self::Acc {
        (V::Wide::default(), 0)
    }

    #[inline]
    fn add(&self, (sum, count): &mut Self::Acc, _at: Timestamp, event: &T) {
        (self.value)(event).add_to(sum);
        *count += 1;
    }

    fn merge(&self, (sum, count): &mut Self::Acc, (other_sum, other_count): Self::Acc) {
        V::merge(sum, other_sum);
        *count += other_count;
    }

    fn unmerge(&self, (sum, count): &mut Self::Acc, (other_sum, other_count): &Self::Acc) -> bool {
        *count -= other_count;
        V::unmerge(sum, other_sum)
    }

    fn finish(&self, (sum, count): &Self::Acc) -> Result<f64, AggregateError> {
        Ok(V::to_f64(sum) / *count as f64)
    }

    fn name(&self) -> &'static str {
        "mean"
    }
}

impl<F, V> fmt::Debug for Mean<F, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mean")
    }
}
