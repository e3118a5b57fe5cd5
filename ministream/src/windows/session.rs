//! Session windows: bursts of one key's activity, apart by a gap.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::mem;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use crate::aggregate::Aggregate;
use crate::error::Refusal;
use crate::event::{Data, Key};
use crate::pane::Timing;
use crate::span::{Span, fits, whole_micros};
use crate::state::{DueQueue, Map, give_back};
use crate::time::Timestamp;
use crate::window::Window;
use crate::window::sealed::{self, Firing, HandOut, Placed, Settings, WindowStore};

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
    type Store<K: Key, Acc: Data> = SessionStore<K, Acc>;

    fn stage(&self) -> &'static str {
        "session"
    }

    fn arguments(&self) -> Vec<String> {
        vec![Span::of(self.gap).to_string()]
    }

    fn refusals(&self, _settings: &Settings) -> Vec<Refusal> {
        let gap = self.gap;
        let reason = if !fits(gap) {
            format!("session gap is {gap:?}, which does not fit in 64 bits of microseconds")
        } else if !whole_micros(gap) {
            format!("session gap is {gap:?}, and event time counts whole microseconds")
        } else if gap.is_zero() {
            "session gap must be greater than zero".to_owned()
        } else {
            return Vec::new();
        };
        vec![Refusal::new("session", reason)]
    }

    /// An event that is alone in its session, or the last one, says where that ends.
    fn admits(&self, results: &RangeInclusive<Timestamp>) -> RangeInclusive<Timestamp> {
        let gap = i128::from(Span::of(self.gap).as_micros());
        let event_of = |result: Timestamp| i128::from(result.as_micros()) + 1 - gap;
        let first = event_of(*results.start()).max(i64::MIN.into());
        let last = event_of(*results.end()).min(i128::from(i64::MAX) - gap);
        match (i64::try_from(first), i64::try_from(last)) {
            (Ok(first), Ok(last)) => Timestamp::from_micros(first)..=Timestamp::from_micros(last),
            _ => Timestamp::MAX..=Timestamp::MIN,
        }
    }

    fn retention(&self) -> Option<Span> {
        None
    }

    fn store<K: Key, Acc: Data>(&self, settings: &Settings) -> Self::Store<K, Acc> {
        let (gap, lateness) = (Span::of(self.gap), settings.lateness());
        SessionStore {
            gap,
            lateness,
            emits_early: settings.emit.is_some(),
            sessions: Map::default(),
            due: DueQueue::new(gap.plus(lateness)),
            next_id: 0,
            corrected: None,
            changed: Vec::new(),
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
    /// Changes of sessions that have not fired are listed.
    emits_early: bool,
    /// Those of each key in order of time. They do not overlap, and no list is empty.
    sessions: Map<K, VecDeque<OpenSession<Acc>>>,
    due: DueQueue<Handle<K>>,
    next_id: u64,
    /// The session that an event was added to after it had fired.
    corrected: Option<Handle<K>>,
    /// Sessions that are listed as changed since their last result, and some that were.
    changed: Vec<Handle<K>>,
    open_windows: usize,
}

#[derive(Debug)]
struct OpenSession<Acc> {
    id: u64,
    window: Window,
    acc: Acc,
    /// It has not fired since it was opened, or merged with a later end. It gets a new id when that begins anew.
    pending: bool,
    /// It is pending, and listed as changed since its last result.
    is_listed: bool,
    /// How many results came of it and of those merged into it.
    results: u32,
    /// The bounds of those results that no later one has replaced.
    standing: Vec<Window>,
}

/// Names a session, also after it has been merged into another (then there is none with that id).
#[derive(Clone, Debug)]
struct Handle<K> {
    key: K,
    /// An instant of the session, to find it by: sessions only grow.
    within: Timestamp,
    id: u64,
}

/// A session that is due.
struct Due<K> {
    window: Window,
    handle: Handle<K>,
    timing: Timing,
}

impl<K: Key, Acc: Data> SessionStore<K, Acc> {
    fn session_mut(&mut self, handle: &Handle<K>) -> Option<&mut OpenSession<Acc>> {
        let sessions = self.sessions.get_mut(&handle.key)?;
        let place = place_of(sessions, handle)?;
        sessions.get_mut(place)
    }

    /// Forgets a session, and with the last one of a key the key.
    fn forget(&mut self, handle: &Handle<K>) {
        let Some(sessions) = self.sessions.get_mut(&handle.key) else { return };
        let Some(place) = place_of(sessions, handle) else { return };
        sessions.remove(place);
        self.open_windows -= 1;
        if sessions.is_empty() {
            self.sessions.remove(&handle.key);
        } else if sessions.len() < sessions.capacity() / 8 {
            sessions.shrink_to(sessions.len() * 2);
        }
        give_back(&mut self.sessions);
    }

    /// Lists a session as changed. Those that need not be listed any more are taken off once they are most of the list.
    fn list(&mut self, handle: Handle<K>) {
        if self.changed.len() > 2 * self.open_windows {
            let sessions = &self.sessions;
            self.changed.retain(|handle| {
                let of_key = sessions.get(&handle.key);
                let session = of_key.and_then(|sessions| sessions.get(place_of(sessions, handle)?));
                session.is_some_and(|session| session.is_listed)
            });
        }
        self.changed.push(handle);
    }

    fn hand_out(&mut self, mut due: Vec<Due<K>>, emit: &mut HandOut<'_, K, Acc>) {
        due.sort_unstable_by(|a, b| a.window.cmp(&b.window).then_with(|| a.handle.key.cmp(&b.handle.key)));
        for Due { window, handle, timing } in due {
            let Some(session) = self.session_mut(&handle) else { continue };
            session.is_listed = false;
            let mut replaces: Vec<_> = session.standing.iter().copied().filter(|&old| old != window).collect();
            replaces.sort_unstable();
            let (key, acc, update) = (&handle.key, &session.acc, session.results);
            if emit(Firing { key, window, acc, timing, update, replaces }) {
                session.results = session.results.saturating_add(1);
                session.standing = vec![window];
            }
        }
    }
}

impl<K: Key, Acc: Data> WindowStore<K, Acc> for SessionStore<K, Acc> {
    fn add<T, A>(&mut self, key: Cow<'_, K>, at: Timestamp, event: &T, aggregate: &A, watermark: Timestamp) -> Placed
    where
        A: Aggregate<T, Acc = Acc>,
    {
        let Some(end) = at.as_micros().checked_add(self.gap.as_micros()) else { return Placed::OutOfRange };
        let window = Window::new(at, Timestamp::from_micros(end));
        let overlapping = self.sessions.get(&*key).map_or(0..0, |sessions| overlapping(sessions, window));
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
        let swallowed: Vec<_> = match overlapping.len() {
            0 | 1 => Vec::new(),
            _ => sessions.drain(overlapping.start + 1..overlapping.end).collect(),
        };
        self.open_windows -= swallowed.len();
        let (session, waits_for_end) = match sessions.get_mut(overlapping.start).filter(|_| !overlapping.is_empty()) {
            Some(session) => {
                session.window.start = session.window.start.min(window.start);
                session.window.end = session.window.end.max(window.end);
                for mut other in swallowed {
                    session.window.end = session.window.end.max(other.window.end);
                    aggregate.merge(&mut session.acc, other.acc);
                    session.results = session.results.saturating_add(other.results);
                    session.standing.append(&mut other.standing);
                }
                let fires_again = !session.pending && watermark < session.window.end;
                if fires_again {
                    // Its entry in the queue waits for the end of its lateness, and there is an end to wait for now.
                    session.pending = true;
                    session.id = fresh_id();
                }
                (session, fires_again)
            }
            None => {
                let (id, acc) = (fresh_id(), aggregate.create());
                let (pending, is_listed, results, standing) = (true, false, 0, Vec::new());
                let opened = OpenSession { id, window, acc, pending, is_listed, results, standing };
                self.open_windows += 1;
                (sessions.insert_mut(overlapping.start, opened), true)
            }
        };
        aggregate.add(&mut session.acc, at, event);
        let end = session.window.end;
        let due = end <= watermark;
        let is_new_in_list = self.emits_early && !due && !mem::replace(&mut session.is_listed, true);
        if waits_for_end || due || is_new_in_list {
            let handle = Handle { within: at, id: session.id, key: key.into_owned() };
            if due {
                self.corrected = Some(handle.clone());
            }
            if is_new_in_list {
                self.list(handle.clone());
            }
            if waits_for_end {
                self.due.push(end, handle);
            }
        }
        Placed::Taken { partly_late: false, due }
    }

    fn fire(&mut self, watermark: Timestamp, emit: &mut HandOut<'_, K, Acc>) {
        let (mut due, mut put_back, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(handle) = self.corrected.take()
            && let Some(session) = self.session_mut(&handle)
        {
            session.pending = false;
            due.push(Due { window: session.window, handle, timing: Timing::Late });
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
                due.push(Due { window, handle: handle.clone(), timing: Timing::OnTime });
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
        self.hand_out(due, emit);
        for handle in gone {
            self.forget(&handle);
        }
    }

    fn fire_early(&mut self, emit: &mut HandOut<'_, K, Acc>) {
        let mut due = Vec::new();
        for handle in mem::take(&mut self.changed) {
            if let Some(session) = self.session_mut(&handle)
                && session.is_listed
            {
                due.push(Due { window: session.window, handle, timing: Timing::Early });
            }
        }
        self.hand_out(due, emit);
    }

    fn open_windows(&self) -> usize {
        self.open_windows
    }
}

/// Where the session of a handle is, if there still is one.
fn place_of<K, Acc>(sessions: &VecDeque<OpenSession<Acc>>, handle: &Handle<K>) -> Option<usize> {
    // What is due is the oldest, most of the time.
    if sessions.front().is_some_and(|session| session.id == handle.id) {
        return Some(0);
    }
    let place = sessions.partition_point(|session| session.window.end <= handle.within);
    sessions.get(place).filter(|session| session.id == handle.id).map(|_| place)
}

/// The sessions that overlap a window: neighbours, for sessions are in order and apart.
fn overlapping<Acc>(sessions: &VecDeque<OpenSession<Acc>>, window: Window) -> Range<usize> {
    // What comes is the newest, most of the time.
    if sessions.back().is_none_or(|session| session.window.end <= window.start) {
        return sessions.len()..sessions.len();
    }
    let first = sessions.partition_point(|session| session.window.end <= window.start);
    let last = sessions.partition_point(|session| session.window.start < window.end);
    first..last
}
