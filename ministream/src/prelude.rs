//! Everything that a pipeline is written with: `use ministream::prelude::*;`.

pub use ministream_macros::{Event, pipeline};

pub use crate::aggregate::Aggregate;
pub use crate::aggregates::{Collect, Count, Distinct, First, Fold, Last, Max, Mean, Min, Reduce, Sum, Top};
pub use crate::error::{AggregateError, Error};
pub use crate::event::{Data, Event};
pub use crate::pane::{Late, Pane};
pub use crate::pipeline::Pipeline;
pub use crate::stream::Stream;
pub use crate::time::{Timestamp, after, before, days, hours, micros, millis, minutes, secs};
pub use crate::watermarks::{Bounded, FromUpstream};
pub use crate::window::{Emit, Window};
pub use crate::windows::{Global, Session, Sliding, Tumbling};
