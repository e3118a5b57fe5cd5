//! `collect`: all events of a window.

use std::fmt;
use std::marker::PhantomData;

use super::methods::aggregate_method;
use super::order::TotalOrder;
use crate::aggregate::Aggregate;
use crate::error::AggregateError;
use crate::time::Timestamp;

/// All events, in the order of their times. See [`WindowedStream::collect`](crate::WindowedStream::collect).
pub struct Collect<O> {
    orders: PhantomData<fn(O)>,
}

impl<O> Default for Collect<O> {
    fn default() -> Self {
        Collect { orders: PhantomData }
    }
}

aggregate_method! {
    /// All events of each window, in the order of their times, not of arrival. Events with the same time go by their
    /// `Ord`, so it is asked for.
    pub fn collect<O>() -> Collect<O>
    where { T: TotalOrder<O>, O: 'static, }
    = Collect::default()
}

impl<T: TotalOrder<O>, O: 'static> Aggregate<T> for Collect<O> {
    type Acc = Vec<(Timestamp, T)>;
    type Out = Vec<T>;

    fn create(&self) -> Self::Acc {
        Vec::new()
    }

    fn add(&self, acc: &mut Self::Acc, at: Timestamp, event: &T) {
        acc.push((at, event.clone()));
    }

    fn merge(&self, acc: &mut Self::Acc, mut other: Self::Acc) {
        acc.append(&mut other);
    }

    fn finish(&self, acc: &Self::Acc) -> Result<Vec<T>, AggregateError> {
        let mut sorted: Vec<_> = acc.iter().collect();
        sorted.sort_by(|(at, event), (other_at, other)| at.cmp(other_at).then_with(|| event.total_order(other)));
        Ok(sorted.into_iter().map(|(_, event)| event.clone()).collect())
    }

    fn name(&self) -> &'static str {
        "collect"
    }
}

impl<O> fmt::Debug for Collect<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Collect")
    }
}
