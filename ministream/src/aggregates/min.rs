//! `min`: the smallest value.

use super::kept::{Kept, Preference};
use super::order::TotalOrder;
use crate::event::{Data, Key};
use crate::operators::Aggregated;
use crate::select::Select;
use crate::stream::{LateChoice, WindowedStream};
use crate::time::Timestamp;
use crate::window::WindowKind;

/// The smallest of a value. See [`WindowedStream::min`].
pub type Min<F, V, O> = Kept<F, V, O, Smallest>;

/// The preference of [`Min`].
#[derive(Debug)]
pub struct Smallest;

impl<T, C, S, W, L> WindowedStream<T, C, S, W, L>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    L: LateChoice<T>,
{
    /// The smallest `value` of the events of each window: by `Ord`, of floats by their total order
    /// (`-NaN < -inf < … < -0.0 < 0.0 < … < inf < NaN`).
    pub fn min<V, O, F>(self, value: F) -> Aggregated<T, C, S, W, L, Min<F, V, O>>
    where
        V: TotalOrder<O>,
        O: 'static,
        F: Fn(&T) -> V + Send + 'static,
    {
        self.aggregate(Min::of(value))
    }
}

impl<V: TotalOrder<O>, O> Preference<V, O> for Smallest {
    type Kept = V;
    const NAME: &'static str = "min";

    fn of(_at: Timestamp, value: V) -> V {
        value
    }

    fn prefers(new: &V, old: &V) -> bool {
        new.total_order(old).is_lt()
    }

    fn value(value: &V) -> V {
        value.clone()
    }
}
