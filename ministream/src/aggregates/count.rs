//! `count`: how many events a window has.

use super::methods::aggregate_method;
use crate::aggregate::Aggregate;
use crate::error::AggregateError;
use crate::time::Timestamp;

/// The number of events. See [`WindowedStream::count`](crate::WindowedStream::count).
#[derive(Clone, Copy, Debug, Default)]
pub struct Count;

aggregate_method! {
    /// The number of events of each window.
    pub fn count<>() -> Count
    where {  }
    = Count
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

    fn unmerge(&self, acc: &mut u64, other: &u64) -> bool {
        *acc -= other;
        true
    }

    fn finish(&self, acc: &u64) -> Result<u64, AggregateError> {
        Ok(*acc)
    }

    fn name(&self) -> &'static str {
        "count"
    }
}
