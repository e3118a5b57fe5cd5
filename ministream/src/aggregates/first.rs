//! `first`: the value of the earliest event.

use super::kept::{Kept, Preference};
use super::methods::aggregate_method;
use super::order::TotalOrder;
use crate::time::Timestamp;

/// The value of the earliest event. See [`WindowedStream::first`](crate::WindowedStream::first).
pub type First<F, V, O> = Kept<F, V, O, Earliest>;

/// The preference of [`First`].
#[derive(Debug)]
pub struct Earliest;

aggregate_method! {
    /// The `value` of the earliest event of each window, by event time, not by arrival. Of events with the same time, the
    /// smallest value: by `Ord`, of floats by their total order.
    pub fn first<V, O, F>(value: F) -> First<F, V, O>
    where { V: TotalOrder<O>, O: 'static, F: Fn(&T) -> V + Send + 'static, }
    = First::of(value)
}

impl<V: TotalOrder<O>, O> Preference<V, O> for Earliest {
    type Kept = (Timestamp, V);
    const NAME: &'static str = "first";

    fn of(at: Timestamp, value: V) -> (Timestamp, V) {
        (at, value)
    }

    fn prefers(new: &(Timestamp, V), old: &(Timestamp, V)) -> bool {
        new.0.cmp(&old.0).then_with(|| new.1.total_order(&old.1)).is_lt()
    }

    fn value((_, value): &(Timestamp, V)) -> V {
        value.clone()
    }
}
