//! The kinds of windows, one file each.

mod aligned;
mod cell;
mod global;
mod session;
mod slices;
mod sliding;
mod tumbling;

pub use self::global::Global;
pub use self::session::Session;
pub use self::sliding::Sliding;
pub use self::tumbling::Tumbling;
