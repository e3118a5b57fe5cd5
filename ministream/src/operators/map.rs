//! `map`: makes another event of each.

use crate::operator::{Operator, Output, Push};
use crate::stream::{Stream, Then};
use crate::time::Timestamp;

/// See [`Stream::map`].
#[derive(Debug)]
pub struct Map<F> {
    f: F,
}

impl<T: 'static, C> Stream<T, C> {
    /// Makes another event of each. The event time stays what it was, whatever the new event holds.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// fn lengths(lines: Stream<String>) -> Stream<usize> {
    ///     lines.map(|line| line.len()).into_streams()
    /// }
    /// ```
    pub fn map<U, F>(self, f: F) -> Stream<U, Then<T, C, Map<F>>>
    where
        U: 'static,
        F: Fn(T) -> U + Send + 'static,
    {
        self.operator(Map { f })
    }
}

impl<T, U: 'static, F: Fn(T) -> U + Send + 'static> Operator<T> for Map<F> {
    type Out = U;

    #[inline]
    fn on_event<P: Push<U>>(&mut self, at: Timestamp, event: T, out: &mut Output<'_, P>) {
        out.emit(at, (self.f)(event));
    }

    fn name(&self) -> &'static str {
        "map"
    }
}
