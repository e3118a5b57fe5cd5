//! `split`: sends events different ways.

use std::fmt;

use crate::event::Data;
use crate::operator::{Operator, Output, Port, Ports, Push};
use crate::plan::{Needs, Plan};
use crate::stream::{Stream, Then};
use crate::time::Timestamp;

/// See [`Stream::split_off`].
pub struct SplitOff<T, F> {
    condition: F,
    split_off: Port<T>,
}

impl<T: Data, C> Stream<T, C> {
    /// Takes the events for which `condition` holds out of the stream: what is left, and those.
    ///
    /// Several in a row split a stream by the first condition that holds; what is left at last is the rest.
    ///
    /// ```
    /// use ministream::prelude::*;
    ///
    /// fn by_size(numbers: Stream<i64>) -> (Stream<i64>, Stream<i64>, Stream<i64>) {
    ///     let (numbers, large) = numbers.split_off(|n| *n >= 100);
    ///     let (small, medium) = numbers.split_off(|n| *n >= 10);
    ///     (small.into_streams(), medium, large)
    /// }
    /// ```
    pub fn split_off<F>(self, condition: F) -> (Stream<T, Then<T, C, SplitOff<T, F>>>, Stream<T>)
    where
        F: Fn(&T) -> bool + Send + 'static,
    {
        let mut rest = self.operator(SplitOff { condition, split_off: Port::unread() });
        let (port, split_off) = rest.open_port();
        rest.operator_mut().split_off = port;
        (rest, split_off)
    }
}

impl<T: Data, F: Fn(&T) -> bool + Send + 'static> Operator<T> for SplitOff<T, F> {
    type Out = T;

    #[inline]
    fn on_event<P: Push<T>>(&mut self, at: Timestamp, event: T, out: &mut Output<'_, P>) {
        if (self.condition)(&event) {
            out.divert(&self.split_off, at, event);
        } else {
            out.emit(at, event);
        }
    }

    fn prepare(&mut self, behind: Needs, plan: &mut Plan<'_>) -> Needs {
        // What is split off are results like any.
        let ports = self.ports().into_iter().flatten();
        ports.fold(behind, |needs, (_, edge)| needs.and(plan.needs(edge)))
    }

    fn ports(&self) -> Ports {
        [self.split_off.named("split_off"), None, None]
    }

    fn name(&self) -> &'static str {
        "split_off"
    }
}

impl<T, F> fmt::Debug for SplitOff<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SplitOff")
    }
}
