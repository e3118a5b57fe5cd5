//! `top`: the events with the greatest values.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;

use super::methods::aggregate_method;
use super::order::TotalOrder;
use crate::aggregate::Aggregate;
use crate::encoding::canonical_order;
use crate::error::AggregateError;
use crate::event::Data;
use crate::time::Timestamp;

/// The events with the greatest values. See [`WindowedStream::top`](crate::WindowedStream::top).
pub struct Top<F, V, O> {
    number: usize,
    by: F,
    orders: PhantomData<fn(O) -> V>,
}

impl<F, V, O> Top<F, V, O> {
    /// So many events, by what `by` takes out of each.
    pub fn of<T>(number: usize, by: F) -> Self
    where
        V: TotalOrder<O>,
        F: Fn(&T) -> V + Send + 'static,
    {
        Top { number, by, orders: PhantomData }
    }
}

aggregate_method! {
    /// The `number` events of each window with the greatest values of `by`, greatest first. Of equal values the earlier
    /// event comes first; those with the same time, too, come in an order that does not depend on their arrival, unless the
    /// events hold a `HashSet`: take a `BTreeSet`.
    ///
    /// A window keeps no more than `number` events. Zero is refused.
    pub fn top<V, O, F>(number: usize, by: F) -> Top<F, V, O>
    where { V: TotalOrder<O>, O: 'static, F: Fn(&T) -> V + Send + 'static }
    = Top::of(number, by)
}

impl<F, V: TotalOrder<O>, O> Top<F, V, O> {
    fn order<T: Data>(a: &(V, Timestamp, T), b: &(V, Timestamp, T)) -> Ordering {
        let by_value = b.0.total_order(&a.0);
        by_value.then_with(|| a.1.cmp(&b.1)).then_with(|| canonical_order(&a.2, &b.2))
    }

    fn keep<T: Data>(&self, acc: &mut Vec<(V, Timestamp, T)>, new: (V, Timestamp, T)) {
        let place = acc.partition_point(|kept| Self::order(kept, &new).is_le());
        if place < self.number {
            acc.truncate(self.number - 1);
            acc.insert(place, new);
        }
    }
}

impl<T, F, V, O> Aggregate<T> for Top<F, V, O>
where
    T: Data,
    F: Fn(&T) -> V + Send + 'static,
    V: TotalOrder<O>,
    O: 'static,
{
    type Acc = Vec<(V, Timestamp, T)>;
    type Out = Vec<T>;

    fn create(&self) -> Self::Acc {
        Vec::new()
    }

    fn add(&self, acc: &mut Self::Acc, at: Timestamp, event: &T) {
        let value = (self.by)(event);
        let is_full = acc.len() >= self.number;
        // Most events of a long window are not among the greatest, and need not be cloned.
        if !is_full || acc.last().is_some_and(|last| value.total_order(&last.0).is_ge()) {
            self.keep(acc, (value, at, event.clone()));
        }
    }

    fn merge(&self, acc: &mut Self::Acc, other: Self::Acc) {
        for one in other {
            self.keep(acc, one);
        }
    }

    fn finish(&self, acc: &Self::Acc) -> Result<Vec<T>, AggregateError> {
        Ok(acc.iter().map(|(_, _, event)| event.clone()).collect())
    }

    fn refusals(&self) -> Vec<String> {
        if self.number == 0 { vec!["the number of events must be greater than zero".to_owned()] } else { Vec::new() }
    }

    fn name(&self) -> &'static str {
        "top"
    }
}

impl<F, V, O> fmt::Debug for Top<F, V, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Top").field("number", &self.number).finish_non_exhaustive()
    }
}
