//! `filter`: keeps the events that a condition holds for.

use crate::operator::{Operator, Output, Push};
use crate::stream::{Stream, Then};
use crate::time::Timestamp;

/// See [`Stream::filter`].
#[derive(Debug)]
pub struct Filter<F> {
    condition: F,
}

impl<T: 'static, C> Stream<T, C> {
    /// Keeps the events for which `condition` holds. The others are gone on purpose: they are not late, and are not counted
    /// as lost.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// fn large(amounts: Stream<i64>) -> Stream<i64> {
    ///     amounts.filter(|amount| *amount > 1_000).into_streams()
    /// }
    /// ```
    pub fn filter<F>(self, condition: F) -> Stream<T, Then<T, C, Filter<F>>>
    where
        F: Fn(&T) -> bool + Send + 'static,
    {
        self.operator(Filter { condition })
    }
}

impl<T, F: Fn(&T) -> bool + Send + 'static> Operator<T> for Filter<F> {
    type Out = T;

    #[inline]
    fn on_event<P: Push<T>>(&mut self, at: Timestamp, event: T, out: &mut Output<'_, P>) {
        if (self.condition)(&event) {
            out.emit(at, event);
        }
    }

    fn upcoming<P: Push<T>>(&mut self, events: &[(Timestamp, T)], out: &mut Output<'_, P>) {
        out.upcoming(events);
    }

    fn name(&self) -> &'static str {
        "filter"
    }
}
