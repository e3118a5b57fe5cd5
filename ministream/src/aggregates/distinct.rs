//! `distinct`: how many different values there are, exactly.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use super::methods::aggregate_method;
use crate::aggregate::Aggregate;
use crate::error::AggregateError;
use crate::event::Key;
use crate::time::Timestamp;

/// The number of different values. See [`WindowedStream::distinct`](crate::WindowedStream::distinct).
pub struct Distinct<F, V> {
    value: F,
    counts: PhantomData<fn() -> V>,
}

impl<F, V> Distinct<F, V> {
    /// Of what `value` takes out of each event.
    pub fn of<T>(value: F) -> Self
    where
        F: Fn(&T) -> V + Send + 'static,
    {
        Distinct { value, counts: PhantomData }
    }
}

aggregate_method! {
    /// How many different values there are in each window, exactly: a window keeps each of them. Where there are too many
    /// for that, see `approx_distinct` of the feature `sketches`.
    pub fn distinct<V, F>(value: F) -> Distinct<F, V>
    where { V: Key, F: Fn(&T) -> V + Send + 'static }
    = Distinct::of(value)
}

impl<T, V: Key, F: Fn(&T) -> V + Send + 'static> Aggregate<T> for Distinct<F, V> {
    type Acc = BTreeSet<V>;
    type Out = u64;

    fn create(&self) -> BTreeSet<V> {
        BTreeSet::new()
    }

    fn add(&self, acc: &mut BTreeSet<V>, _at: Timestamp, event: &T) {
        acc.insert((self.value)(event));
    }

    fn merge(&self, acc: &mut BTreeSet<V>, mut other: BTreeSet<V>) {
        acc.append(&mut other);
    }

    fn finish(&self, acc: &BTreeSet<V>) -> Result<u64, AggregateError> {
        Ok(u64::try_from(acc.len()).unwrap_or(u64::MAX))
    }

    fn name(&self) -> &'static str {
        "distinct"
    }
}

impl<F, V> fmt::Debug for Distinct<F, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Distinct")
    }
}
