//! `first`: the value of the earliest event.

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

/// The value of the earliest event. See [`WindowedStream::first`].
pub struct First<F, V, O> {
    value: F,
    keeps: PhantomData<fn(O) -> V>,
}

impl<F, V, O> First<F, V, O> {
    /// What `value` takes out of the earliest event.
    pub fn of<T>(value: F) -> Self
    where
        V: TotalOrder<O>,
        F: Fn(&T) -> V + Send + 'static,
    {
        First { value, keeps: PhantomData }
    }
}

impl<T, C, S, W, L> WindowedStream<T, C, S, W, L>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    L: LateChoice<T>,
{
    /// The `value` of the earliest event of each window, by event time, not by arrival. Of events with the same time, the
    /// smallest value: by `Ord`, of floats by their total order.
    pub fn first<V, O, F>(self, value: F) -> Aggregated<T, C, S, W, L, First<F, V, O>>
    where
        V: TotalOrder<O>,
        O: 'static,
        F: Fn(&T) -> V + Send + 'static,
    {
        self.aggregate(First::of(value))
    }
}

impl<T, V: TotalOrder<O>, O: 'static, F: Fn(&T) -> V + Send + 'static> Aggregate<T> for First<F, V, O> {
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
        let replaces = |(kept_at, kept): &(Timestamp, V)| at.cmp(kept_at).then_with(|| value.total_order(kept)).is_lt();
        if acc.as_ref().is_none_or(replaces) {
            *acc = Some((at, value));
        }
    }

    fn finish(&self, acc: &Self::Acc) -> Result<V, AggregateError> {
        let value = acc.as_ref().map(|(_, value)| value.clone());
        value.ok_or_else(|| AggregateError::new("a window without events has no earliest event"))
    }

    fn name(&self) -> &'static str {
        "first"
    }
}

impl<F, V, O> fmt::Debug for First<F, V, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("First")
    }
}
