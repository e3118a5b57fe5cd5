//! The only paths that the macros may name. Nothing here is part of the public interface.

pub use std::clone::Clone;
pub use std::time::Duration;

pub use crate::event::{Event, EventTime, Unit, timestamp_from_integer};
pub use crate::time::{Timestamp, after, before};
pub use crate::watermarks::{Bounded, FromUpstream as Upstream};
pub use crate::window::Emit;
pub use crate::windows::{Global, Session, Sliding, Tumbling};

use crate::aggregate::Aggregate;
use crate::aggregates::AggregatesOf;
use crate::event::{Data, Key};
use crate::operators::Aggregated;
use crate::select::Select;
use crate::stream::{Chain, LateChoice, Stream, WindowedStream};
use crate::window::WindowKind;

/// Asks for the bound, where the user wrote the type.
pub fn is_data<T: crate::event::Data>() {}

/// [`Stream::into_streams`](crate::Stream::into_streams), of a chain with nothing beside it.
pub fn close<T: Data, C: Chain<T, Side = ()>>(stream: Stream<T, C>) -> Stream<T> {
    stream.into_streams()
}

/// [`WindowedStream::aggregate`](crate::WindowedStream::aggregate)
pub fn aggregate<T, C, S, W, L, A>(windows: WindowedStream<T, C, S, W, L>, aggregate: A) -> Aggregated<T, C, S, W, L, A>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    L: LateChoice<T>,
    A: Aggregate<T>,
{
    windows.aggregate(aggregate)
}

/// [`WindowedStream::aggregate_with`](crate::WindowedStream::aggregate_with)
pub fn aggregate_with<T, C, S, W, L, A>(
    windows: WindowedStream<T, C, S, W, L>,
    f: impl FnOnce(AggregatesOf<T>) -> A,
) -> Aggregated<T, C, S, W, L, A>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    L: LateChoice<T>,
    A: Aggregate<T>,
{
    windows.aggregate_with(f)
}
