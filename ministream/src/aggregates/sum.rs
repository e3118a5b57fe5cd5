//! `sum`: exact sums, which never wrap and do not depend on the order.

use std::fmt;
use std::marker::PhantomData;

use super::methods::aggregate_method;
use super::summable::Summable;
use crate::aggregate::Aggregate;
use crate::error::AggregateError;
use crate::time::Timestamp;

/// The sum of a value. See [`WindowedStream::sum`](crate::WindowedStream::sum).
pub struct Sum<F, V> {
    value: F,
    sums: PhantomData<fn() -> V>,
}

impl<F, V> Sum<F, V> {
    /// The sum of what `value` takes out of each event: `Sum::of(|click: &Click| click.value)`.
    pub fn of<T>(value: F) -> Self
    where
        F: Fn(&T) -> V + Send + 'static,
    {
        Sum { value, sums: PhantomData }
    }
}

aggregate_method! {
    /// The sum of `value` over the events of each window, in the type of the value.
    ///
    /// Integers are summed wider than they are; a sum that does not fit the type in the end is an error that names key and
    /// window, and no result. Floats are summed exactly and rounded once, so the result has the same bits in any order.
    pub fn sum<V, F>(value: F) -> Sum<F, V>
    where { V: Summable, F: Fn(&T) -> V + Send + 'static, }
    = Sum::of(value)
}

impl<T, V: Summable, F: Fn(&T) -> V + Send + 'static> Aggregate<T> for Sum<F, V> {
    type Acc = V::Wide;
    type Out = V;

    fn create(&self) -> V::Wide {
        V::Wide::default()
    }

    #[inline]
    fn add(&self, acc: &mut V::Wide, _at: Timestamp, event: &T) {
        (self.value)(event).add_to(acc);
    }

    fn merge(&self, acc: &mut V::Wide, other: V::Wide) {
        V::merge(acc, other);
    }

    fn unmerge(&self, acc: &mut V::Wide, other: &V::Wide) -> bool {
        V::unmerge(acc, other)
    }

    fn finish(&self, acc: &V::Wide) -> Result<V, AggregateError> {
        V::narrow(acc)
    }

    fn name(&self) -> &'static str {
        "sum"
    }
}

impl<F, V> fmt::Debug for Sum<F, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sum")
    }
}
