//! The aggregates, one file each: what it computes, and the method of
//! [`WindowedStream`](crate::WindowedStream) that adds it.
//!
//! None of them depends on the order in which events arrive.

mod collect;
mod count;
mod exact;
mod first;
mod kept;
mod last;
mod max;
mod mean;
mod min;
mod order;
mod reduce;
mod sum;
mod summable;

pub use self::collect::Collect;
pub use self::count::Count;
pub use self::first::First;
pub use self::kept::{Kept, Preference};
pub use self::last::Last;
pub use self::max::Max;
pub use self::mean::Mean;
pub use self::min::Min;
pub use self::order::TotalOrder;
pub use self::reduce::Reduce;
pub use self::sum::Sum;
pub use self::summable::Summable;
