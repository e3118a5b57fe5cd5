//! What stands in for the aggregates of the feature `sketches` where it is off: methods that say so.

use super::Count;
use crate::event::{Data, Key};
use crate::operators::Aggregated;
use crate::select::Select;
use crate::stream::{LateChoice, WindowedStream};
use crate::window::WindowKind;

/// Never implemented.
#[diagnostic::on_unimplemented(
    message = "this aggregate needs the feature `sketches` of ministream",
    label = "the feature is off",
    note = "`cargo add ministream --features sketches`"
)]
pub trait FeatureSketches {}

impl<T, C, S, W, L> WindowedStream<T, C, S, W, L>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    L: LateChoice<T>,
{
    /// Needs the feature `sketches`.
    pub fn approx_distinct<V>(self, _value: impl Fn(&T) -> V) -> Aggregated<T, C, S, W, L, Count>
    where
        T: FeatureSketches,
    {
        self.count()
    }

    /// Needs the feature `sketches`.
    pub fn quantile<V>(self, _value: impl Fn(&T) -> V, _q: f64) -> Aggregated<T, C, S, W, L, Count>
    where
        T: FeatureSketches,
    {
        self.count()
    }
}
