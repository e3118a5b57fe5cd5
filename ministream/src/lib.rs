//! Event-time stream processing for Rust programs.
//!
//! A pipeline is a function from streams to streams. `#[pipeline]` writes its body from a line of stages:
//!
//! ```
//! use ministream::prelude::*;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Debug, Serialize, Deserialize, Event)]
//! struct Click {
//!     event_id: u64,
//!     user: String,
//!     #[event(time, unit = "ms")]
//!     ts: i64,
//!     value: i64,
//! }
//!
//! /// What each user spends in ten seconds.
//! #[pipeline(
//!     source -> dedup(event_id)
//!            -> key_by(user)
//!            -> tumbling(10s, delay = 3s, lateness = 5s)
//!            -> sum(value)
//! )]
//! fn spend_per_user(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);
//!
//! # fn main() -> Result<(), Error> {
//! let mut spend = Pipeline::new(spend_per_user);
//! let click = |event_id, ts, value| Click { event_id, user: "alice".into(), ts, value };
//! let mut lines = Vec::new();
//! for click in [click(1, 1_000, 30), click(2, 13_000, 5), click(2, 13_000, 5), click(3, 9_000, 12)] {
//!     let (panes, _late) = spend.push(click)?;
//!     lines.extend(panes.map(|pane| pane.to_string()));
//! }
//! assert_eq!(lines, ["[00:00:00, 00:00:10) alice = 30", "[00:00:00, 00:00:10) alice = 42 (update 1)"]);
//! # Ok(())
//! # }
//! ```
//!
//! The attribute is only a spelling of the methods of [`Stream`]; without macros the body is
//!
//! ```
//! # use ministream::prelude::*;
//! # use serde::{Deserialize, Serialize};
//! # #[derive(Clone, Serialize, Deserialize)]
//! # struct Click { event_id: u64, user: String, value: i64 }
//! # fn spend_per_user(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>) {
//! source
//!     .dedup(|c| &c.event_id)
//!     .watermark(Bounded::new(secs(3)))
//!     .key_by(|c| &c.user)
//!     .window(Tumbling::new(secs(10)))
//!     .allowed_lateness(secs(5))
//!     .sum(|c| c.value)
//!     .into_streams()
//! # }
//! ```
//!
//! # Words
//!
//! * **Event**: one record with an event time, the instant at which what it tells of happened ([`Event`], [`Timestamp`]).
//! * **Watermark**: a lower bound of the timestamps still to come. With bounded disorder it is the largest timestamp seen
//!   minus the **delay** ([`watermarks`]).
//! * **Window**: a span of event time `[start, end)` ([`windows`]). It **fires** when the watermark reaches its end, and
//!   gives a [`Pane`]; with [`emit`](WindowedStream::emit) **early** ones come before that.
//! * **Late**: an event whose windows are gone. Within the **allowed lateness** after a window's end an event still
//!   corrects it, and the corrected pane is an **update**; after that the event leaves by the late stream ([`Late`]).
//! * **Pipeline**: a function from streams to streams, and the [`Pipeline`] that runs it inside a program.
//!
//! # Where to look
//!
//! * The stages as the DSL writes them: [`pipeline`](macro@pipeline). As methods: [`Stream`], [`KeyedStream`],
//!   [`WindowedStream`].
//! * What it all means, rule by rule: [`_documentation::semantics`]. How it is built:
//!   [`_documentation::architecture`]. What it costs: [`_documentation::performance`].
//! * Aggregates of your own: [`Aggregate`]. Operators of your own: [`operator::KeyedOperator`] with state and timers for each
//!   key, [`operator::Operator`] without keys. Sources of files: [`connectors`].
//!
//! # Features
//!
//! None is on by default.
//!
//! * `json`: sources of JSON lines.
//! * `csv`: sources of CSV files.
//! * `sketches`: aggregates that estimate in little memory, `approx_distinct` and `quantile`.
//! * `jiff`, `chrono`: event times of these crates.

pub mod aggregate;
pub mod aggregates;
pub mod connector;
pub mod connectors;
mod context;
mod counters;
mod describe;
mod encoding;
pub mod error;
pub mod event;
mod graph;
mod held;
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

/// Longer texts about the crate.
pub mod _documentation {
    #[doc = include_str!("../docs/architecture.md")]
    pub mod architecture {}

    #[doc = include_str!("../docs/performance.md")]
    pub mod performance {}

    #[doc = include_str!("../docs/semantics.md")]
    pub mod semantics {}
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use ministream_macros::{Event, pipeline};

pub use crate::aggregate::Aggregate;
pub use crate::counters::{Counters, OperatorCounters};
pub use crate::describe::Description;
pub use crate::error::Error;
pub use crate::event::{Data, Event, Id, Key};
pub use crate::pane::{Late, Pane, Timing};
pub use crate::pipeline::{Drain, Input, Inputs, Outputs, Pipeline, Sources, Wire};
pub use crate::stream::{
    Boundary, Chain, KeepLate, KeyedStream, LateChoice, LateTaken, NothingBeside, SideOutputs, Stream, Then,
    WindowedStream, WithLate,
};
pub use crate::time::Timestamp;
pub use crate::window::Window;
