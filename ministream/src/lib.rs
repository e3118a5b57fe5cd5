//! Event-time stream processing for Rust programs.
#![doc = ""]

pub mod aggregate;
pub mod aggregates;
mod context;
mod counters;
mod element;
pub mod error;
pub mod event;
mod graph;
pub mod operator;
pub mod operators;
mod pane;
mod pipeline;
mod plan;
pub mod prelude;
pub mod select;
mod span;
mod state;
mod stream;
pub mod time;
pub mod watermark;
pub mod watermarks;
pub mod window;
pub mod windows;

#[doc(hidden)]
pub mod __private;

// pub use ministream_macros::{Event, pipeline};

pub use crate::aggregate::Aggregate;
pub use crate::counters::{Counters, OperatorCounters};
pub use crate::error::Error;
pub use crate::event::{Data, Event, Id, Key};
pub use crate::pane::{Late, Pane};
pub use crate::pipeline::{Drain, Outputs, Pipeline};
pub use crate::stream::{
    Boundary, Chain, KeepLate, KeyedStream, LateChoice, LateTaken, SideOutputs, Stream, Then, WindowedStream, WithLate,
};
pub use crate::time::Timestamp;
pub use crate::window::Window;
