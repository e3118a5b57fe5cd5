//! `min`: the smallest value.

use super::kept::{Kept, Preference};
use super::methods::aggregate_method;
use super::order::TotalOrder;
use crate::time::Timestamp;

/// The smallest of a value. See [`WindowedStream::min`](crate::WindowedStream::min).
pub type Min<F, V, O> = Kept<F, V, O, Smallest>;

/// The preference of [`Min`].
#[derive(Debug)]
pub struct Smallest;

aggregate_method! {
    /// The smallest `value` of the events of each window: by `Ord`, of floats by their total order
    /// (`-NaN < -inf < … < -0.0 < 0.0 < … < inf < NaN`).
    pub fn min<V, O, F>(value: F) -> Min<F, V, O>
    where { V: TotalOrder<O>, O: 'static, F: Fn(&T) -> V + Send + 'static, }
    = Min::of(value)
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
