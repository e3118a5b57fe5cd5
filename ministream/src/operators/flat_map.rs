//! `flat_map`: makes any number of events of each.

use crate::operator::{Operator, Output, Push};
use crate::stream::{Stream, Then};
use crate::time::Timestamp;

/// See [`Stream::flat_map`].
#[derive(Debug)]
pub struct FlatMap<F> {
    f: F,
}

impl<T: 'static, C> Stream<T, C> {
    /// Makes any number of events of each, all with its event time.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// fn words(lines: Stream<String>) -> Stream<String> {
    ///     lines.flat_map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>()).into_streams()
    /// }
    /// ```
    pub fn flat_map<I, F>(self, f: F) -> Stream<I::Item, Then<T, C, FlatMap<F>>>
    where
        I: IntoIterator + 'static,
        I::Item: 'static,
        F: Fn(T) -> I + Send + 'static,
    {
        self.operator(FlatMap { f })
    }
}

impl<T, I, F> Operator<T> for FlatMap<F>
where
    I: IntoIterator + 'static,
    F: Fn(T) -> I + Send + 'static,
{
    type Out = I::Item;

    #[inline]
    fn on_event<P: Push<I::Item>>(&mut self, at: Timestamp, event: T, out: &mut Output<'_, P>) {
        for made in (self.f)(event) {
            out.emit(at, made);
        }
    }

    fn name(&self) -> &'static str {
        "flat_map"
    }
}
