//! `reduce`: makes one event of two, until one is left.

use std::fmt;

use super::methods::aggregate_method;
use crate::aggregate::Aggregate;
use crate::error::AggregateError;
use crate::event::Data;
use crate::time::Timestamp;

/// One event of all. See [`WindowedStream::reduce`](crate::WindowedStream::reduce).
pub struct Reduce<F> {
    f: F,
}

impl<F> Reduce<F> {
    /// Makes one event of two with `f`.
    pub fn with<T>(f: F) -> Self
    where
        F: Fn(T, T) -> T + Send + 'static,
    {
        Reduce { f }
    }
}

aggregate_method! {
    /// One event of all events of each window, two by two.
    ///
    /// The order of arrival does not matter only if it does not matter to `f`: it has to be associative and commutative,
    /// like a sum or a maximum.
    pub fn reduce<F>(f: F) -> Reduce<F>
    where { F: Fn(T, T) -> T + Send + 'static, }
    = Reduce::with(f)
}

impl<T: Data, F: Fn(T, T) -> T + Send + 'static> Aggregate<T> for Reduce<F> {
    type Acc = Option<T>;
    type Out = T;

    fn create(&self) -> Option<T> {
        None
    }

    fn add(&self, acc: &mut Option<T>, _at: Timestamp, event: &T) {
        self.merge(acc, Some(event.clone()));
    }

    fn merge(&self, acc: &mut Option<T>, other: Option<T>) {
        *acc = match (acc.take(), other) {
            (Some(left), Some(right)) => Some((self.f)(left, right)),
            (one, None) | (None, one) => one,
        };
    }

    fn finish(&self, acc: &Option<T>) -> Result<T, AggregateError> {
        acc.clone().ok_or_else(|| AggregateError::new("a window without events has nothing to reduce"))
    }

    fn name(&self) -> &'static str {
        "reduce"
    }
}

impl<F> fmt::Debug for Reduce<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reduce")
    }
}
