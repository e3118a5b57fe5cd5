//! The contract of windows: what a [`Window`] is, how events are assigned to windows, and what keeps their state.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde::{Deserialize, Serialize};

mod emit;

pub(crate) use self::emit::Early;
pub use self::emit::Emit;
use crate::aggregate::Aggregate;
use crate::error::Refusal;
use crate::event::{Data, Key};
use crate::pane::{Replaced, Timing};
use crate::span::{Span, whole_micros};
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

/// `[12:00:00, 12:00:10)`; the window that holds everything is `[all time)`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_interval(f, self.start, self.end)
    }
}

/// A kind of windows: tumbling, sliding, sessions, or one for all time. See [`windows`](crate::windows) for those there are.
///
/// The trait is sealed: the operators rely on its methods for their exactness.
pub trait WindowKind: Clone + Send + 'static + sealed::WindowKind {}

impl<W: Clone + Send + 'static + sealed::WindowKind> WindowKind for W {}

pub(crate) mod sealed {
    use super::*;

    /// What an operator must know of a kind of windows. The caller has checked `refusals` before it asks for anything else.
    pub trait WindowKind {
        /// What keeps the windows of this kind.
        type Store<K: Key, Acc: Data>: WindowStore<K, Acc>;

        /// The stage by its name in the DSL: `tumbling`.
        fn stage(&self) -> &'static str;

        /// Its arguments as the DSL writes them, without the settings that all kinds have: `10s`, `offset = 3s`.
        fn arguments(&self) -> Vec<String>;

        /// Everything that is wrong with them, and with the settings for windows of this kind.
        fn refusals(&self, settings: &Settings) -> Vec<Refusal>;

        /// The timestamps whose windows fit in 64 bits and have their last instants within `results`; empty if there are
        /// none.
        fn admits(&self, results: &RangeInclusive<Timestamp>) -> RangeInclusive<Timestamp>;

        /// For how long after its timestamp an event's windows may stay open, without lateness; None if for ever.
        fn retention(&self) -> Option<Span>;

        /// An empty store.
        fn store<K: Key, Acc: Data>(&self, settings: &Settings) -> Self::Store<K, Acc>;
    }

    /// What can be said of windows of any kind.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Settings {
        pub(crate) lateness: Duration,
        pub(crate) emit: Option<Emit>,
        /// What was merged can be taken out again: [`Aggregate::unmerge`].
        pub(crate) is_invertible: bool,
    }

    impl Settings {
        pub(crate) fn lateness(&self) -> Span {
            Span::of(self.lateness)
        }

        /// Whether a window may give more than one result.
        pub(crate) fn corrections(&self) -> bool {
            self.emit.is_some() || !self.lateness().is_zero()
        }

        /// As the DSL writes them: `lateness = 5s`, `emit = every(1m)`.
        pub(crate) fn arguments(&self) -> Vec<String> {
            let lateness = Some(self.lateness()).filter(|lateness| !lateness.is_zero());
            let lateness = lateness.map(|lateness| format!("lateness = {lateness}"));
            lateness.into_iter().chain(self.emit.map(|emit| format!("emit = {emit}"))).collect()
        }

        pub(crate) fn refusals(&self, stage: &str) -> Vec<Refusal> {
            let fraction = !whole_micros(self.lateness) && self.lateness != Duration::MAX;
            let lateness =
                fraction.then(|| format!("lateness is {:?}, and event time counts whole microseconds", self.lateness));
            let reasons = lateness.into_iter().chain(self.emit.and_then(Emit::refusal));
            reasons.map(|reason| Refusal::new(stage, reason)).collect()
        }
    }

    /// Keeps the windows of all keys.
    ///
    /// The caller asks `moves`, and calls `fire` if so, after each move of the watermark, and after each `add` that asks for it. `watermark` is
    /// [`Timestamp::MIN`] before there is one: nothing is due then. Where early results are wanted it calls `fire_early`
    /// when they are, after that.
    ///
    /// `emit` tells whether it could make a result of a window. What is handed out together is in order of end, start and
    /// key.
    pub trait WindowStore<K: Key, Acc: Data>: Send + 'static {
        /// Adds an event to all of its windows that live.
        fn add<T, A>(
            &mut self,
            key: Cow<'_, K>,
            at: Timestamp,
            event: &T,
            aggregate: &A,
            watermark: Timestamp,
        ) -> Placed
        where
            A: Aggregate<T, Acc = Acc>;

        /// Events of these keys come next, most of them at least: looks up what they will need.
        fn upcoming<'a>(&mut self, _keys: impl Iterator<Item = &'a K>)
        where
            K: 'a,
        {
        }

        /// The watermark is here now; whether something is due, so that `fire` has to be called. It need not be if not.
        fn moves(&mut self, watermark: Timestamp) -> bool;

        /// Hands out each window that became due: once when `watermark` reaches its end, and again for each event that was
        /// added to it after that. Then windows whose lateness is over are forgotten.
        fn fire(&mut self, watermark: Timestamp, parts: &impl Parts<Acc>, emit: &mut impl HandOut<K, Acc>);

        /// Hands out each window that has not reached its end and has changed since it was handed out.
        fn fire_early(&mut self, emit: &mut impl HandOut<K, Acc>);

        /// Hands out what is left, at the end of the input. Nothing is called any more after that.
        fn finish(&mut self, parts: &impl Parts<Acc>, emit: &mut impl HandOut<K, Acc>) {
            self.fire(Timestamp::MAX, parts, emit);
        }

        /// How many windows are kept, counted once for each key.
        fn open_windows(&self) -> usize;
    }

    /// Puts accumulators together and apart: what an [`Aggregate`] does, whatever its events.
    pub trait Parts<Acc> {
        fn merge(&self, acc: &mut Acc, other: Acc);
        /// Only where [`Settings::is_invertible`] says so.
        fn unmerge(&self, acc: &mut Acc, other: &Acc);
    }

    /// The parts of an aggregate over events of type `T`.
    pub(crate) struct PartsOf<'a, T, A> {
        aggregate: &'a A,
        of: PhantomData<fn(T)>,
    }

    impl<'a, T, A> PartsOf<'a, T, A> {
        pub(crate) fn new(aggregate: &'a A) -> Self {
            PartsOf { aggregate, of: PhantomData }
        }
    }

    impl<T, A: Aggregate<T>> Parts<A::Acc> for PartsOf<'_, T, A> {
        fn merge(&self, acc: &mut A::Acc, other: A::Acc) {
            self.aggregate.merge(acc, other);
        }

        fn unmerge(&self, acc: &mut A::Acc, other: &A::Acc) {
            self.aggregate.unmerge(acc, other);
        }
    }

    /// Takes the windows that are due.
    pub trait HandOut<K, Acc> {
        /// Whether it could make a result of the window.
        fn take(&mut self, firing: Firing<'_, K, Acc>) -> bool;
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
        /// It has a new key, and as many as can be told apart are open.
        TooManyKeys,
    }

    /// One window that is due.
    #[derive(Debug)]
    pub struct Firing<'a, K, Acc> {
        pub(crate) key: &'a K,
        pub(crate) window: Window,
        pub(crate) acc: &'a Acc,
        pub(crate) timing: Timing,
        /// How many results of this window, or of sessions merged into it, came before.
        pub(crate) update: u32,
        /// The windows of earlier results that this one takes the place of.
        pub(crate) replaces: Replaced,
    }
}
