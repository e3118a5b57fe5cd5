//! The contract of windows: what a [`Window`] is, how events are assigned to windows, and what keeps their state.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::aggregate::Aggregate;
use crate::error::Refusal;
use crate::event::Key;
use crate::span::Span;
use crate::time::{Timestamp, write_interval};

/// A span of event time, `[start, end)`: `start` belongs to it, `end` does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Window {
    /// The first instant.
    pub start: Timestamp,
    /// The first instant after it.
    pub end: Timestamp,
}

impl Window {
    /// The window `[start, end)`.
    pub const fn new(start: Timestamp, end: Timestamp) -> Self {
        Window { start, end }
    }

    /// The last instant of the window: the event time of its results.
    pub fn last_instant(&self) -> Timestamp {
        self.end.minus(Span::from_micros(1))
    }
}

/// By end, then start: the order in which results come.
impl Ord for Window {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.end, self.start).cmp(&(other.end, other.start))
    }
}

impl PartialOrd for Window {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// `[12:00:00, 12:00:10)`
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_interval(f, self.start, self.end)
    }
}

/// A kind of windows: tumbling, sliding, sessions. See [`windows`](crate::windows) for those there are.
///
/// The trait is sealed: the operators rely on its methods for their exactness.
pub trait WindowKind: Send + 'static + sealed::WindowKind {}

impl<W: Send + 'static + sealed::WindowKind> WindowKind for W {}

pub(crate) mod sealed {
    use super::*;

    /// What an operator must know of a kind of windows. The caller has checked `refusals` before it asks for anything else.
    pub trait WindowKind {
        /// What keeps the windows of this kind.
        type Store<K: Key, T: 'static, A: Aggregate<T>>: WindowStore<K, T, A>;

        /// The stage as the DSL writes it, without lateness: `tumbling(10s)`.
        fn describe(&self) -> String;

        /// Everything that is wrong with the settings.
        fn refusals(&self) -> Vec<Refusal>;

        /// The timestamps whose windows fit in 64 bits; empty if there are none.
        fn admits(&self) -> RangeInclusive<Timestamp>;

        /// For how long after its timestamp an event's windows may stay open, without lateness; None if for ever.
        fn retention(&self) -> Option<Span>;

        /// An empty store.
        fn store<K: Key, T: 'static, A: Aggregate<T>>(&self, lateness: Span) -> Self::Store<K, T, A>;
    }

    /// Keeps the windows of all keys.
    ///
    /// The caller calls `fire` after each move of the watermark, and after each `add` that asks for it. `watermark` is
    /// [`Timestamp::MIN`] before there is one: nothing is due then.
    pub trait WindowStore<K: Key, T, A: Aggregate<T>>: Send + 'static {
        /// Adds an event to all of its windows that live.
        fn add(&mut self, key: Cow<'_, K>, at: Timestamp, event: &T, aggregate: &A, watermark: Timestamp) -> Placed;

        /// Hands out each window that became due, in order of end, start and key. A window is handed out once when
        /// `watermark` reaches its end, and again for each event that was added to it after that. `emit` tells whether it
        /// could make a result of it. Then windows whose lateness is over are forgotten.
        fn fire(&mut self, watermark: Timestamp, emit: impl FnMut(Firing<'_, K, A::Acc>) -> bool);

        /// How many windows are kept, counted once for each key.
        fn open_windows(&self) -> usize;
    }

    /// Where an event went.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Placed {
        /// Into at least one window.
        Taken {
            /// Some of its windows were gone.
            partly_late: bool,
            /// It was added to a window that has fired: `fire` is due.
            due: bool,
        },
        /// All of its windows are gone.
        Late,
        /// Its window does not fit in 64 bits.
        OutOfRange,
    }

    /// One window that is due.
    #[derive(Debug)]
    pub struct Firing<'a, K, Acc> {
        pub(crate) key: &'a K,
        pub(crate) window: Window,
        pub(crate) acc: &'a Acc,
        /// How many results of this window, or of sessions merged into it, came before.
        pub(crate) update: u32,
        /// The windows of earlier results that this one takes the place of.
        pub(crate) replaces: Vec<Window>,
    }
}
