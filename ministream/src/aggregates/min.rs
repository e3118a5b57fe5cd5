//! `min`: the smallest value.

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

/// The smallest of a value. See [`WindowedStream::min`].
pub struct Min<F, V, O> {
    value: F,
    keeps: PhantomData<fn(O) -> V>,
}

impl<F, V, O> Min<F, V, O> {
    /// The smallest of what `value` takes out of each event.
    pub fn of<T>(value: F) -> Self
    where
        V: TotalOrder<O>,
        F: Fn(&T) -> V + Send + 'static,
    {
        Min { value, keeps: PhantomData }
    }
}

impl<T, C, S, W, L> WindowedStream<T, C, S, W, L>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    L: LateChoice<T>,
{
    /// The smallest `value` of the events of each window: by `Ord`, of floats by their total order
    /// (`-NaN < -inf < … < -0.0 < 0.0 < … < inf < NaN`).
    pub fn min<V, O, F>(self, value: F) -> Aggregated<T, C, S, W, L, Min<F, V, O>>
    where
        V: TotalOrder<O>,
        O: 'static,
        F: Fn(&T) -> V + Send + 'static,
    {
        self.aggregate(Min::of(value))
    }
}

impl<T, V: TotalOrder<O>, O: 'static, F: Fn(&T) -> V + Send + 'static> Aggregate<T> for Min<F, V, O> {
    type Acc = Option<V>;
    type Out = V;

    fn create(&self) -> Option<V> {
        None
    }

    #[inline]
    fn add(&self, acc: &mut Option<V>, _at: Timestamp, event: &T) {
        self.merge_value(acc, (self.value)(event));
    }

    fn merge(&self, acc: &mut Option<V>, other: Option<V>) {
        if let Some(value) = other {
            self.merge_value(acc, value);
        }
    }

    fn finish(&self, acc: &Option<V>) -> Result<V, AggregateError> {
        acc.clone().ok_or_else(|| AggregateError::new("a window without events has no smallest value"))
    }

    fn name(&self) -> &'static str {
        "min"
    }
}

impl<F, V: TotalOrder<O>, O> Min<F, V, O> {
    #[inline]
    fn merge_value(&self, acc: &mut Option<V>, value: V) {
        if acc.as_ref().is_none_or(|kept| value.total_order(kept).is_lt()) {
            *acc = Some(value);
        }
    }
}

impl<F, V, O> fmt::Debug for Min<F, V, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Min")
    }
}
