//! `max`: the largest value.

use super::kept::{Kept, Preference};
use super::methods::aggregate_method;
use super::order::TotalOrder;
use crate::time::Timestamp;

/// The largest of a value. See [`WindowedStream::max`](crate::WindowedStream::max).
pub type Max<F, V, O> = Kept<F, V, O, Largest>;

/// The preference of [`Max`].
#[derive(Debug)]
pub struct Largest;

aggregate_method! {
    /// The largest `value` of the events of each window: by `Ord`, of floats by their total order
    /// (`-NaN < -inf < … < -0.0 < 0.0 < … < inf < NaN`).
    pub fn max<V, O, F>(value: F) -> Max<F, V, O>
    where { V: TotalOrder<O>, O: 'static, F: Fn(&T) -> V + Send + 'static, }
    = Max::of(value)
}

impl<V: TotalOrder<O>, O> Preference<V, O> for Largest {
    type Kept = V;
    const NAME: &'static str = "max";

    fn of(_at: Timestamp, value: V) -> V {
        value
    }

    fn prefers(new: &V, old: &V) -> bool {
        new.total_order(old).is_gt()
    }

    fn value(value: &V) -> V {
        value.clone()
    }
}
