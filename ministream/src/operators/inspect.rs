//! `inspect`: looks at each event and lets it pass.

use crate::operator::{Operator, Output, Push};
use crate::stream::{Stream, Then};
use crate::time::Timestamp;

/// See [`Stream::inspect`].
#[derive(Debug)]
pub struct Inspect<F> {
    f: F,
}

impl<T: 'static, C> Stream<T, C> {
    /// Looks at each event and lets it pass, for logs and counts.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// fn logged(numbers: Stream<i64>) -> Stream<i64> {
    ///     numbers.inspect(|n| eprintln!("{n}")).into_streams()
    /// }
    /// ```
    pub fn inspect<F>(self, f: F) -> Stream<T, Then<T, C, Inspect<F>>>
    where
        F: FnMut(&T) + Send + 'static,
    {
        self.operator(Inspect { f })
    }
}

impl<T, F: FnMut(&T) + Send + 'static> Operator<T> for Inspect<F> {
    type Out = T;

    #[inline]
    fn on_event<P: Push<T>>(&mut self, at: Timestamp, event: T, out: &mut Output<'_, P>) {
        (self.f)(&event);
        out.emit(at, event);
    }

    fn upcoming<P: Push<T>>(&mut self, events: &[(Timestamp, T)], out: &mut Output<'_, P>) {
        out.upcoming(events);
    }

    fn name(&self) -> &'static str {
        "inspect"
    }
}
