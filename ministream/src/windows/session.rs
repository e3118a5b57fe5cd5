//! Session windows: bursts of one key's activity, apart by a gap.

use std::borrow::Cow;
use std::mem;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use crate::aggregate::Aggregate;
use crate::error::Refusal;
use crate::event::{Data, Key};
use crate::span::{Span, whole_micros};
use crate::state::{DueQueue, Map, give_back};
use crate::time::Timestamp;
use crate::window::Window;
use crate::window::sealed::{self, Firing, Placed, WindowStore};

/// Windows that grow with a key's events: an event opens `[ts, ts + gap)`, and windows of one key that overlap are one.
///
/// Two windows that only touch (events exactly one gap apart) stay two. Flink merges them; then the order of events with
/// equal timestamps can change the result.
///
/// ```
/// use ministream::prelude::*;
///
/// let visits = Session::new(minutes(30));
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    gap: Duration,
}

impl Session {
    /// Sessions that end after this much silence. The gap has to be greater than zero.
    pub fn new(gap: Duration) -> Self {
        Session { gap }
    }
}

impl sealed::WindowKind for Session {
    type Store<K: Key, T: 'static, A: Aggregate<T>> = SessionStore<K, A::Acc>;

    fn describe(&self) -> String {
        format!("session({})", Span::of(self.gap))
    }

    fn refusals(&self) -> Vec<Refusal> {
        if !whole_micros(self.gap) {
            let reason = format!("session gap is {:?}, and event time counts whole microseconds", self.gap);
            return vec![Refusal::new("session", reason)];
        }
        if Span::of(self.gap).is_zero() {
            return vec![Refusal::new("session", "session gap must be greater than zero")];
        }
        Vec::new()
    }

    fn admits(&self) -> RangeInclusive<Timestamp> {
        Timestamp::MIN..=Timestamp::MAX.minus(Span::of(self.gap))
    }

    fn retention(&self) -> Option<Span> {
        None
    }

    fn store<K: Key, T: 'static, A: Aggregate<T>>(&self, lateness: Span) -> Self::Store<K, T, A> {
        SessionStore {
            gap: Span::of(self.gap),
            lateness,
            sessions: Map::default(),
            due: DueQueue::new(Span::of(self.gap).plus(lateness)),
            next_id: 0,
            corrected: None,
            open_windows: 0,
        }
    }
}

/// The sessions of all keys.
///
/// Each session has one entry in the queue of due things: at its end, and once it has fired at the end of its lateness.
/// The entry stays where it is when the session grows, and is put forward when it comes up.
#[derive(Debug)]
pub struct SessionStore<K, Acc> {
    gap: Span,
    lateness: Span,
    /// Those of each key in order of time. They do not overlap, and no list is empty.
    sessions: Map<K, Vec<OpenSession<Acc>>>,
    due: DueQueue<Handle<K>>,
    next_id: u64,
    /// The session that an event was added to after it had fired.
    corrected: Option<Handle<K>>,
    open_windows: usize,
}

#[derive(Debug)]
struct OpenSession<Acc> {
    id: u64,
    window: Window,
    acc: Acc,
    /// It has not fired since it was opened, or merged with a later end.
    pending: bool,
    /// How many results came of it and of those merged into it.
    results: u32,
    /// The bounds of those results that no later one has replaced.
    standing: Vec<Window>,
}

/// Names a session, also after it has been merged into another (then there is none with that id).
#[derive(Clone, Debug)]
struct Handle<K> {
    key: K,
    id: u64,
}

impl<K: Key, Acc: Data> SessionStore<K, Acc> {
    fn session_mut(&mut self, handle: &Handle<K>) -> Option<&mut OpenSession<Acc>> {
        self.sessions.get_mut(&handle.key)?.iter_mut().find(|session| session.id == handle.id)
    }

    /// Forgets a session, and with the last one of a key the key.
    fn forget(&mut self, handle: &Handle<K>) {
        let Some(sessions) = self.sessions.get_mut(&handle.key) else { return };
        let before = sessions.len();
        sessions.retain(|session| session.id != handle.id);
        self.open_windows -= before - sessions.len();
        if sessions.is_empty() {
            self.sessions.remove(&handle.key);
        }
        give_back(&mut self.sessions);
    }
}

impl<K: Key, T, A: Aggregate<T>> WindowStore<K, T, A> for SessionStore<K, A::Acc> {
    fn add(&mut self, key: Cow<'_, K>, at: Timestamp, event: &T, aggregate: &A, watermark: Timestamp) -> Placed {
        let Some(end) = at.as_micros().checked_add(self.gap.as_micros()) else { return Placed::OutOfRange };
        let window = Window::new(at, Timestamp::from_micros(end));
        let overlapping = overlapping(self.sessions.get(&*key).map_or(&[], Vec::as_slice), window);
        if overlapping.is_empty() && window.end.plus(self.lateness) <= watermark {
            return Placed::Late;
        }

        let sessions = match self.sessions.get_mut(&*key) {
            Some(sessions) => sessions,
            None => self.sessions.entry(key.clone().into_owned()).or_default(),
        };
        let mut fresh_id = || {
            self.next_id += 1;
            self.next_id
        };
        let (id, end, wait) = match sessions.get_mut(overlapping.clone()).and_then(<[_]>::split_first_mut) {
            None => {
                let mut acc = aggregate.create();
                aggregate.add(&mut acc, at, event);
                let id = fresh_id();
                let opened = OpenSession { id, window, acc, pending: true, results: 0, standing: Vec::new() };
                sessions.insert(overlapping.start, opened);
                self.open_windows += 1;
                (id, window.end, true)
            }
            Some((session, swallowed)) => {
                session.window.start = session.window.start.min(window.start);
                session.window.end = session.window.end.max(window.end);
                for other in &mut *swallowed {
                    session.window.end = session.window.end.max(other.window.end);
                    aggregate.merge(&mut session.acc, mem::replace(&mut other.acc, aggregate.create()));
                    session.results += other.results;
                    session.standing.append(&mut other.standing);
                }
                aggregate.add(&mut session.acc, at, event);
                let fires_again = !session.pending && watermark < session.window.end;
                if fires_again {
                    // Its entry in the queue waits for the end of its lateness, and there is an end to wait for now.
                    session.pending = true;
                    session.id = fresh_id();
                }
                let (id, end) = (session.id, session.window.end);
                self.open_windows -= swallowed.len();
                sessions.drain(overlapping.start + 1..overlapping.end);
                (id, end, fires_again)
            }
        };
        let due = end <= watermark;
        if wait || due {
            let handle = Handle { key: key.into_owned(), id };
            if due {
                self.corrected = Some(handle.clone());
            }
            if wait {
                self.due.push(end, handle);
            }
        }
        Placed::Taken { partly_late: false, due }
    }

    fn fire(&mut self, watermark: Timestamp, mut emit: impl FnMut(Firing<'_, K, A::Acc>) -> bool) {
        let (mut firing, mut put_back, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(handle) = self.corrected.take()
            && let Some(session) = self.session_mut(&handle)
        {
            session.pending = false;
            firing.push((session.window, handle));
        }
        while let Some((_, handle)) = self.due.pop_due(watermark) {
            let lateness = self.lateness;
            let Some(session) = self.session_mut(&handle) else { continue };
            let window = session.window;
            if watermark < window.end {
                put_back.push((window.end, handle));
                continue;
            }
            if mem::take(&mut session.pending) {
                firing.push((window, handle.clone()));
            }
            let gone_at = window.end.plus(lateness);
            if watermark < gone_at {
                put_back.push((gone_at, handle));
            } else {
                gone.push(handle);
            }
        }
        for (at, handle) in put_back {
            self.due.push(at, handle);
        }
        firing.sort_unstable_by(|(a, left), (b, right)| a.cmp(b).then_with(|| left.key.cmp(&right.key)));
        for (window, handle) in firing {
            let Some(session) = self.session_mut(&handle) else { continue };
            let mut replaces: Vec<_> = session.standing.iter().copied().filter(|&old| old != window).collect();
            replaces.sort_unstable();
            let key = &handle.key;
            if emit(Firing { key, window, acc: &session.acc, update: session.results, replaces }) {
                session.results += 1;
                session.standing = vec![window];
            }
        }
        for handle in gone {
            self.forget(&handle);
        }
    }

    fn open_windows(&self) -> usize {
        self.open_windows
    }
}

/// The sessions that overlap a window: neighbours, for sessions are in order and apart.
fn overlapping<Acc>(sessions: &[OpenSession<Acc>], window: Window) -> Range<usize> {
    let first = sessions.partition_point(|session| session.window.end <= window.start);
    let last = sessions.partition_point(|session| session.window.start < window.end);
    first..last
}
