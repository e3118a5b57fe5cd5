//! The aggregates, one file each: what it computes, and the method of
//! [`WindowedStream`](crate::WindowedStream) that adds it.
//!
//! None of them depends on the order in which events arrive, but for `reduce` and `fold`, if what they are given does.

#[cfg(feature = "sketches")]
mod approx_distinct;
mod collect;
mod count;
mod distinct;
mod exact;
mod first;
mod fold;
mod kept;
mod last;
mod mapped;
mod max;
mod mean;
mod methods;
mod min;
mod order;
#[cfg(feature = "sketches")]
mod quantile;
mod reduce;
mod sum;
mod summable;
mod top;
#[cfg(not(feature = "sketches"))]
mod without_sketches;

#[cfg(feature = "sketches")]
pub use self::approx_distinct::ApproxDistinct;
pub use self::collect::Collect;
pub use self::count::Count;
pub use self::distinct::Distinct;
pub use self::first::First;
pub use self::fold::Fold;
pub use self::kept::{Kept, Preference};
pub use self::last::Last;
pub use self::mapped::Mapped;
pub use self::max::Max;
pub use self::mean::Mean;
pub use self::methods::AggregatesOf;
pub use self::min::Min;
pub use self::order::TotalOrder;
#[cfg(feature = "sketches")]
pub use self::quantile::Quantile;
pub use self::reduce::Reduce;
pub use self::sum::Sum;
pub use self::summable::Summable;
pub use self::top::Top;
