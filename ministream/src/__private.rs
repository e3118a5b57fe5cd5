//! The only paths that the macros may name. Nothing here is part of the public interface.

pub use std::clone::Clone;
pub use std::time::Duration;

pub use crate::event::{Event, EventTime, Unit, timestamp_from_integer};
pub use crate::time::{Timestamp, after, before};
pub use crate::watermarks::{Bounded, FromUpstream as Upstream};
pub use crate::window::Emit;
pub use crate::windows::{Global, Session, Sliding, Tumbling};

/// Asks for the bound, where the user wrote the type.
pub fn is_data<T: crate::event::Data>() {}
