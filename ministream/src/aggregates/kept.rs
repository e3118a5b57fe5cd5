//! What `min`, `max`, `first` and `last` share: of all values one is kept.

use std::fmt;
use std::marker::PhantomData;

use super::order::TotalOrder;
use crate::aggregate::Aggregate;
use crate::error::AggregateError;
use crate::event::Data;
use crate::time::Timestamp;

/// One of the values that `value` takes out of the events: the one that `R` prefers.
///
/// Written as [`Min`](super::Min), [`Max`](super::Max), [`First`](super::First) or [`Last`](super::Last).
pub struct Kept<F, V, O, R> {
    value: F,
    keeps: PhantomData<fn(O, R) -> V>,
}

/// Which of two values is kept.
pub trait Preference<V, O>: Send + 'static {
    /// The value, and what else the choice goes by.
    type Kept: Data;
    /// The name of the aggregate.
    const NAME: &'static str;

    /// What is kept of a value at an instant.
    fn of(at: Timestamp, value: V) -> Self::Kept;

    /// Whether a new one takes the place of the old one. It must not matter which of the two came first.
    fn prefers(new: &Self::Kept, old: &Self::Kept) -> bool;

    /// The value again.
    fn value(kept: &Self::Kept) -> V;
}

impl<F, V, O, R> Kept<F, V, O, R> {
    /// Of what `value` takes out of each event: `Max::of(|click: &Click| click.value)`.
    pub fn of<T>(value: F) -> Self
    where
        V: TotalOrder<O>,
        F: Fn(&T) -> V + Send + 'static,
    {
        Kept { value, keeps: PhantomData }
    }
}

impl<T, F, V, O, R> Aggregate<T> for Kept<F, V, O, R>
where
    F: Fn(&T) -> V + Send + 'static,
    V: TotalOrder<O>,
    O: 'static,
    R: Preference<V, O>,
{
    type Acc = Option<R::Kept>;
    type Out = V;

    fn create(&self) -> Self::Acc {
        None
    }

    #[inline]
    fn add(&self, acc: &mut Self::Acc, at: Timestamp, event: &T) {
        keep::<V, O, R>(acc, R::of(at, (self.value)(event)));
    }

    fn merge(&self, acc: &mut Self::Acc, other: Self::Acc) {
        if let Some(kept) = other {
            keep::<V, O, R>(acc, kept);
        }
    }

    fn finish(&self, acc: &Self::Acc) -> Result<V, AggregateError> {
        let value = acc.as_ref().map(R::value);
        value.ok_or_else(|| AggregateError::new("a window without events has no such value"))
    }

    fn name(&self) -> &'static str {
        R::NAME
    }
}

#[inline]
fn keep<V, O, R: Preference<V, O>>(acc: &mut Option<R::Kept>, new: R::Kept) {
    if acc.as_ref().is_none_or(|old| R::prefers(&new, old)) {
        *acc = Some(new);
    }
}

impl<F, V, O, R> fmt::Debug for Kept<F, V, O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kept")
    }
}
