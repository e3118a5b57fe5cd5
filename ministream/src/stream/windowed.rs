//! Keyed streams cut into windows, and what becomes of their late events.

use std::fmt;
use std::time::Duration;

use super::{KeyedStream, Stream, WithLate};
use crate::event::Data;
use crate::operator::Port;
use crate::pane::Late;
use crate::window::WindowKind;

/// A keyed stream cut into windows, which waits for an aggregate.
///
/// The last parameter says what becomes of late events: they come out of
/// [`into_streams`](Stream::into_streams) ([`KeepLate`]), or were taken or discarded before ([`LateTaken`]).
#[must_use = "a windowed stream does nothing until it is aggregated"]
pub struct WindowedStream<T, C, S, W, L = KeepLate> {
    pub(crate) keyed: KeyedStream<T, C, S>,
    pub(crate) windows: W,
    pub(crate) lateness: Duration,
    pub(crate) late: L,
    pub(crate) name: Option<&'static str>,
}

/// Late events come out of [`Stream::into_streams`], behind the results.
#[derive(Debug)]
pub struct KeepLate(());

/// Late events were taken as a stream, or discarded.
pub struct LateTaken<T> {
    port: Port<Late<T>>,
}

impl<T, C, S> KeyedStream<T, C, S> {
    /// Cuts the stream of each key into windows.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// #[derive(Clone, Serialize, Deserialize)]
    /// struct Click { user: String, value: i64 }
    ///
    /// fn spend_per_user(clicks: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>) {
    ///     clicks
    ///         .watermark(Bounded::new(secs(3)))
    ///         .key_by(|c| &c.user)
    ///         .window(Tumbling::new(secs(10)))
    ///         .allowed_lateness(secs(5))
    ///         .sum(|c| c.value)
    ///         .into_streams()
    /// }
    /// ```
    pub fn window<W: WindowKind>(self, windows: W) -> WindowedStream<T, C, S, W> {
        WindowedStream { keyed: self, windows, lateness: Duration::ZERO, late: KeepLate(()), name: None }
    }
}

impl<T, C, S, W, L> WindowedStream<T, C, S, W, L> {
    /// For how long after a window's end, in event time, late events still correct its result; zero if not said.
    /// `Duration::MAX` keeps windows for ever.
    pub fn allowed_lateness(mut self, lateness: Duration) -> Self {
        self.lateness = lateness;
        self
    }

    /// Names the windows, for [`describe`](crate::Pipeline::describe), counters and errors.
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }
}

impl<T: Data, C, S, W> WindowedStream<T, C, S, W> {
    /// Drops late events on purpose; they are only counted.
    pub fn discard_late(self) -> WindowedStream<T, C, S, W, LateTaken<T>> {
        self.late_to(Port::unread())
    }

    /// The late events as a stream of its own, here rather than from [`Stream::into_streams`].
    pub fn with_late(self) -> (WindowedStream<T, C, S, W, LateTaken<T>>, Stream<Late<T>>) {
        let late = Stream::on(self.keyed.stream.graph());
        let port = Port::to(late.edge());
        (self.late_to(port), late)
    }

    fn late_to(self, port: Port<Late<T>>) -> WindowedStream<T, C, S, W, LateTaken<T>> {
        let WindowedStream { keyed, windows, lateness, late: KeepLate(()), name } = self;
        WindowedStream { keyed, windows, lateness, late: LateTaken { port }, name }
    }
}

/// What becomes of late events: [`KeepLate`] or [`LateTaken`].
pub trait LateChoice<T: Data>: Sized + sealed::LateChoice<T> {}

impl<T: Data, L: sealed::LateChoice<T>> LateChoice<T> for L {}

pub(crate) mod sealed {
    use super::{Data, KeepLate, Late, LateTaken, Port, Stream, WithLate};
    use crate::graph::GraphRef;

    pub trait LateChoice<T: Data>: Sized {
        /// A late stream that waits for `into_streams`.
        type Waiting;
        /// The chain `C`, with that.
        type Chain<C>;

        fn open(self, graph: &GraphRef) -> (Port<Late<T>>, Self::Waiting);
        fn wrap<U, C>(stream: Stream<U, C>, waiting: Self::Waiting) -> Stream<U, Self::Chain<C>>;
    }

    impl<T: Data> LateChoice<T> for KeepLate {
        type Waiting = Stream<Late<T>>;
        type Chain<C> = WithLate<C, Late<T>>;

        fn open(self, graph: &GraphRef) -> (Port<Late<T>>, Stream<Late<T>>) {
            let late = Stream::on(graph);
            (Port::to(late.edge()), late)
        }

        fn wrap<U, C>(stream: Stream<U, C>, waiting: Stream<Late<T>>) -> Stream<U, WithLate<C, Late<T>>> {
            stream.with_late_waiting(waiting)
        }
    }

    impl<T: Data> LateChoice<T> for LateTaken<T> {
        type Waiting = ();
        type Chain<C> = C;

        fn open(self, _graph: &GraphRef) -> (Port<Late<T>>, ()) {
            (self.port, ())
        }

        fn wrap<U, C>(stream: Stream<U, C>, _waiting: ()) -> Stream<U, C> {
            stream
        }
    }
}

impl<T, C, S, W, L> fmt::Debug for WindowedStream<T, C, S, W, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WindowedStream").field(&self.keyed.stream).finish()
    }
}

impl<T> fmt::Debug for LateTaken<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LateTaken")
    }
}
