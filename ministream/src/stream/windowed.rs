//! Keyed streams cut into windows, and what becomes of their late events.

use std::fmt;
use std::time::Duration;

use super::{Boundary, KeyedStream, Stream, WithLate};
use crate::event::Data;
use crate::operator::Port;
use crate::pane::Late;
use crate::window::sealed::Settings;
use crate::window::{Emit, WindowKind};

/// A keyed stream cut into windows, which waits for an aggregate.
///
/// The last parameter says what becomes of late events: they come out of
/// [`into_streams`](Stream::into_streams) ([`KeepLate`]), or were taken or discarded before ([`LateTaken`]).
#[must_use = "a windowed stream does nothing until it is aggregated"]
pub struct WindowedStream<T, C, S, W, L = KeepLate> {
    pub(crate) keyed: KeyedStream<T, C, S>,
    pub(crate) windows: W,
    pub(crate) settings: Settings,
    pub(crate) late: L,
    pub(crate) name: Option<&'static str>,
}

/// Late events come out of [`Stream::into_streams`], behind the results.
#[derive(Debug)]
pub struct KeepLate(());

/// Late events were taken as a stream, or discarded.
pub struct LateTaken<T> {
    port: Port<Late<T>>,
    /// False for a clone: the original counts and sends them.
    counts: bool,
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
        WindowedStream { keyed: self, windows, settings: Settings::default(), late: KeepLate(()), name: None }
    }
}

impl<T, C, S, W, L> WindowedStream<T, C, S, W, L> {
    /// For how long after a window's end, in event time, late events still correct its result; zero if not said.
    /// `Duration::MAX` keeps windows for ever.
    pub fn allowed_lateness(mut self, lateness: Duration) -> Self {
        self.settings.lateness = lateness;
        self
    }

    /// Asks for results before the windows end: after each event ([`Emit::on_update`]), or each time the watermark has
    /// passed another step ([`Emit::every`]).
    ///
    /// Such a result is marked as [early](crate::Pane::is_early), and the next one of the window is an update that takes
    /// its place. When the window ends its result comes as usual, even if it is the same as the early one.
    ///
    /// The value of a window at its end does not depend on the order of arrival. Which early results come, and so how many
    /// were before it, does: they show what had arrived by then.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Clone, Serialize, Deserialize, Event)]
    /// # struct Click { user: String, value: i64, #[event(time, unit = "s")] ts: i64 }
    /// fn spend(clicks: Stream<Click>) -> Stream<Pane<String, i64>> {
    ///     let by_user = clicks.watermark(Bounded::new(secs(0))).key_by(|click| &click.user);
    ///     let hours = by_user.window(Tumbling::new(hours(1))).emit(Emit::every(minutes(1)));
    ///     hours.discard_late().sum(|click| click.value).into_streams()
    /// }
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut spend = Pipeline::new(spend);
    /// let mut lines = Vec::new();
    /// for (ts, value) in [(10, 30), (50, 5), (61, 7)] {
    ///     let panes = spend.push(Click { user: "alice".into(), value, ts })?;
    ///     lines.extend(panes.map(|pane| pane.to_string()));
    /// }
    /// lines.extend(spend.finish()?.iter().map(|pane| pane.to_string()));
    /// assert_eq!(lines, ["[00:00:00, 01:00:00) alice = 42 (early)", "[00:00:00, 01:00:00) alice = 42 (update 1)"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn emit(mut self, emit: Emit) -> Self {
        self.settings.emit = Some(emit);
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
        let WindowedStream { keyed, windows, settings, late: KeepLate(()), name } = self;
        WindowedStream { keyed, windows, settings, late: LateTaken { port, counts: true }, name }
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

        /// Whether the operator counts its late events: a clone of a windowed stream does not, for the original does.
        fn counts(&self) -> bool {
            true
        }

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

        fn counts(&self) -> bool {
            self.counts
        }

        fn open(self, _graph: &GraphRef) -> (Port<Late<T>>, ()) {
            (self.port, ())
        }

        fn wrap<U, C>(stream: Stream<U, C>, _waiting: ()) -> Stream<U, C> {
            stream
        }
    }
}

/// The same windows once more, for another aggregate. Their late events have to be taken or discarded before, and come
/// once: the original sends and counts them.
///
/// ```
/// use ministream::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Clone, Serialize, Deserialize)]
/// # struct Click { user: String, value: i64 }
///
/// type Panes<V> = Stream<Pane<String, V>>;
///
/// fn spend_and_visits(clicks: Stream<Click>) -> (Panes<i64>, Panes<u64>, Stream<Late<Click>>) {
///     let clicks = clicks.watermark(Bounded::new(secs(3))).into_streams();
///     let (hours, late) = clicks.key_by(|click| &click.user).window(Tumbling::new(hours(1))).with_late();
///     let visits = hours.clone().count().into_streams();
///     (hours.sum(|click| click.value).into_streams(), visits, late)
/// }
/// ```
impl<T: Data, S: Clone, W: Clone, L: Clone> Clone for WindowedStream<T, Boundary<T>, S, W, L> {
    fn clone(&self) -> Self {
        WindowedStream {
            keyed: self.keyed.clone(),
            windows: self.windows.clone(),
            settings: self.settings,
            late: self.late.clone(),
            name: self.name,
        }
    }
}

impl<T, C, S, W, L> fmt::Debug for WindowedStream<T, C, S, W, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WindowedStream").field(&self.keyed.stream).finish()
    }
}

/// A clone sends no late events and counts none: the original does.
impl<T> Clone for LateTaken<T> {
    fn clone(&self) -> Self {
        LateTaken { port: Port::unread(), counts: false }
    }
}

impl<T> fmt::Debug for LateTaken<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LateTaken")
    }
}
