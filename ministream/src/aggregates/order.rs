//! The order that `min`, `max`, `first`, `last` and `collect` go by.

use std::cmp::Ordering;

use crate::event::Data;

/// Values in a total order: those with `Ord`, and floats by `total_cmp`.
///
/// The parameter `O` tells the two apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "values of type `{Self}` have no total order",
    label = "not `Ord`",
    note = "derive it: `#[derive(PartialEq, Eq, PartialOrd, Ord)]` (and `Clone, Serialize, Deserialize`); floats are ordered as they are, but not inside other types"
)]
pub trait TotalOrder<O>: Data {
    /// Compares two values.
    fn total_order(&self, other: &Self) -> Ordering;
}

/// Ordered by `Ord`.
#[derive(Clone, Copy, Debug)]
pub struct ByOrd;

/// Ordered by `total_cmp`.
#[derive(Clone, Copy, Debug)]
pub struct ByTotalCmp;

#[diagnostic::do_not_recommend]
impl<V: Data + Ord> TotalOrder<ByOrd> for V {
    fn total_order(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }
}

impl TotalOrder<ByTotalCmp> for f64 {
    fn total_order(&self, other: &Self) -> Ordering {
        self.total_cmp(other)
    }
}

impl TotalOrder<ByTotalCmp> for f32 {
    fn total_order(&self, other: &Self) -> Ordering {
        self.total_cmp(other)
    }
}
