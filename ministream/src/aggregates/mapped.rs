//! An aggregate whose result is made into another value.

use std::fmt;

use crate::aggregate::Aggregate;
use crate::error::AggregateError;
use crate::event::Data;
use crate::time::Timestamp;

/// See [`AggregatesOf::map`](super::AggregatesOf::map).
pub struct Mapped<A, F> {
    aggregate: A,
    f: F,
}

impl<A, F> Mapped<A, F> {
    pub(crate) fn new(aggregate: A, f: F) -> Self {
        Mapped { aggregate, f }
    }
}

impl<T, A, U, F> Aggregate<T> for Mapped<A, F>
where
    A: Aggregate<T>,
    U: Data,
    F: Fn(A::Out) -> U + Send + 'static,
{
    type Acc = A::Acc;
    type Out = U;

    fn create(&self) -> A::Acc {
        self.aggregate.create()
    }

    #[inline]
    fn add(&self, acc: &mut A::Acc, at: Timestamp, event: &T) {
        self.aggregate.add(acc, at, event);
    }

    fn merge(&self, acc: &mut A::Acc, other: A::Acc) {
        self.aggregate.merge(acc, other);
    }

    fn unmerge(&self, acc: &mut A::Acc, other: &A::Acc) -> bool {
        self.aggregate.unmerge(acc, other)
    }

    fn finish(&self, acc: &A::Acc) -> Result<U, AggregateError> {
        self.aggregate.finish(acc).map(&self.f)
    }

    fn refusals(&self) -> Vec<String> {
        self.aggregate.refusals()
    }

    fn name(&self) -> &'static str {
        self.aggregate.name()
    }
}

impl<A: fmt::Debug, F> fmt::Debug for Mapped<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mapped").field(&self.aggregate).finish()
    }
}
