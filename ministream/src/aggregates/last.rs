//! `last`: the value of the latest event.

use std::fmt;
use std::marker::PhantomData;

use super::order::TotalOrder;
use crate::aggregate::Aggregate;
use crate::error::AggregateError;
use crate::event::{Data, Key};
use crate::operators::Aggregated;
use crate::select::Select;
use crate::stream::{LateChoice, WindowedStream};
use crate::time::Timestamp;
use crate::window::WindowKind;

/// The value of the latest event. See [`WindowedStream::last`].
pub struct Last<F, V, O> {
    value: F,
    keeps: PhantomData<fn(O) -> V>,
}

impl<F, V, O> Last<F, V, O> {
    /// What `value` takes out of the latest event.
    pub fn of<T>(value: F) -> Self
    where
        V: TotalOrder<O>,
        F: Fn(&T) -> V + Send + 'static,
    {
        Last { value, keeps: PhantomData }
    }
}

impl<T, C, S, W, L> WindowedStream<T, C, S, W, L>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    L: LateChoice<T>,
{
    /// The `value` of the latest event of each window, by event time, not by arrival. Of events with the same time, the
    /// largest value: by `Ord`, of floats by their total order.
    pub fn last<V, O, F>(self, value: F) -> Aggregated<T, C, S, W, L, Last<F, V, O>>
    where
        V: TotalOrder<O>,
        O: 'static,
        F: Fn(&T) -> V + Send + 'static,
    {
        self.aggregate(Last::of(value))
    }
}

impl<T, V: TotalOrder<O>, O: 'static, F: Fn(&T) -> V + Send + 'static> Aggregate<T> for Last<F, V, O> {
    type Acc = Option<(Timestamp, V)>;
    type Out = V;

    fn create(&self) -> Self::Acc {
        None
    }

    fn add(&self, acc: &mut Self::Acc, at: Timestamp, event: &T) {
        self.merge(acc, Some((at, (self.value)(event))));
    }

    fn merge(&self, acc: &mut Self::Acc, other: Self::Acc) {
        let Some((at, value)) = other else { return };
        let replaces = |(kept_at, kept): &(Timestamp, V)| at.cmp(kept_at).then_with(|| value.total_order(kept)).is_gt();
        if acc.as_ref().is_none_or(replaces) {
            *acc = Some((at, value));
        }
    }

    fn finish(&self, acc: &Self::Acc) -> Result<V, AggregateError> {
        let value = acc.as_ref().map(|(_, value)| value.clone());
        value.ok_or_else(|| AggregateError::new("a window without events has no latest event"))
    }

    fn name(&self) -> &'static str {
        "last"
    }
}

impl<F, V, O> fmt::Debug for Last<F, V, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Last")
    }
}
