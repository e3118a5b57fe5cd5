//! `count`: how many events a window has.

use crate::aggregate::Aggregate;
use crate::error::AggregateError;
use crate::event::{Data, Key};
use crate::operators::Aggregated;
use crate::select::Select;
use crate::stream::{LateChoice, WindowedStream};
use crate::time::Timestamp;
use crate::window::WindowKind;

/// The number of events. See [`WindowedStream::count`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Count;

impl<T, C, S, W, L> WindowedStream<T, C, S, W, L>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    L: LateChoice<T>,
{
    /// The number of events of each window.
    pub fn count(self) -> Aggregated<T, C, S, W, L, Count> {
        self.aggregate(Count)
    }
}

impl<T> Aggregate<T> for Count {
    type Acc = u64;
    type Out = u64;

    fn create(&self) -> u64 {
        0
    }

    #[inline]
    fn add(&self, acc: &mut u64, _at: Timestamp, _event: &T) {
        *acc += 1;
    }

    fn merge(&self, acc: &mut u64, other: u64) {
        *acc += other;
    }

    fn finish(&self, acc: &u64) -> Result<u64, AggregateError> {
        Ok(*acc)
    }

    fn name(&self) -> &'static str {
        "count"
    }
}
