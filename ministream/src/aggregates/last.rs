//! `last`: the value of the latest event.

use super::kept::{Kept, Preference};
use super::methods::aggregate_method;
use super::order::TotalOrder;
use crate::time::Timestamp;

/// The value of the latest event. See [`WindowedStream::last`](crate::WindowedStream::last).
pub type Last<F, V, O> = Kept<F, V, O, Latest>;

/// The preference of [`Last`].
#[derive(Debug)]
pub struct Latest;

aggregate_method! {
    /// The `value` of the latest event of each window, by event time, not by arrival. Of events with the same time, the
    /// largest value: by `Ord`, of floats by their total order.
    pub fn last<V, O, F>(value: F) -> Last<F, V, O>
    where { V: TotalOrder<O>, O: 'static, F: Fn(&T) -> V + Send + 'static, }
    = Last::of(value)
}

impl<V: TotalOrder<O>, O> Preference<V, O> for Latest {
    type Kept = (Timestamp, V);
    const NAME: &'static str = "last";

    fn of(at: Timestamp, value: V) -> (Timestamp, V) {
        (at, value)
    }

    fn prefers(new: &(Timestamp, V), old: &(Timestamp, V)) -> bool {
        new.0.cmp(&old.0).then_with(|| new.1.total_order(&old.1)).is_gt()
    }

    fn value((_, value): &(Timestamp, V)) -> V {
        value.clone()
    }
}
