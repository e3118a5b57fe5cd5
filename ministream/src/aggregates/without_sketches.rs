//! What stands in for the aggregates of the feature `sketches` where it is off: methods that say so.

use super::methods::aggregate_method;
use super::{Count, Fold};

/// Never implemented.
#[diagnostic::on_unimplemented(
    message = "this aggregate needs the feature `sketches` of ministream",
    label = "the feature is off",
    note = "`cargo add ministream --features sketches`"
)]
pub trait FeatureSketches {}

aggregate_method! {
    /// Needs the feature `sketches`.
    pub fn approx_distinct<V, F>(_value: F) -> Count
    where { T: FeatureSketches, F: Fn(&T) -> V }
    = Count
}

aggregate_method! {
    /// Needs the feature `sketches`.
    pub fn quantile<V, F>(_value: F, _q: f64) -> Fold<f64, fn(f64, &T) -> f64, fn(f64, f64) -> f64>
    where { T: FeatureSketches, F: Fn(&T) -> V }
    = Fold::new(0.0, |value, _| value, |value, _| value)
}
