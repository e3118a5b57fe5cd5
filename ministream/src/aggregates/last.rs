//! `last`: the value of the latest event.

use super::kept::{Kept, Preference};
use super::order::TotalOrder;
use crate::event::{Data, Key};
use crate::operators::Aggregated;
use crate::select::Select;
use crate::stream::{LateChoice, WindowedStream};
use crate::time::Timestamp;
use crate::window::WindowKind;

/// The value of the latest event. See [`WindowedStream::last`].
pub type Last<F, V, O> = Kept<F, V, O, Latest>;

/// The preference of [`Last`].
#[derive(Debug)]
pub struct Latest;

impl<T, C, S, W, L> WindowedStream<T, C, S, W, L>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    L: LateChoice<T>,
{
    /// The `value` of the latest event of each window, by event time, not by arrival. Of events with the same time, the
    /// largest value: by `Ord`, of floats by their total order.
    pub fn last<V, O, F>(self, value: F) -> Aggregated<T, C, S, W, L, Last<F, V, O>>
    where
        V: TotalOrder<O>,
        O: 'static,
        F: Fn(&T) -> V + Send + 'static,
    {
        self.aggregate(Last::of(value))
    }
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
