//! Session windows: bursts of one key's activity, apart by a gap.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::mem;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use crate::aggregate::Aggregate;
use crate::error::Refusal;
use crate::event::{Data, Key};
use crate::pane::{Replaced, Timing};
use crate::span::{Span, fits, whole_micros};
use crate::state::{DueQueue, Keys, Slot};
use crate::time::Timestamp;
use crate::window::Window;
use crate::window::sealed::{self, Firing, HandOut, Parts, Placed, Settings, WindowStore};

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
            keys: Keys::new(),
            sessions: Vec::new(),
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
    keys: Keys<K>,
    /// By slot.
    sessions: Vec<OfKey<Acc>>,
    due: DueQueue<Handle>,
    next_id: u64,
    /// The session that an event was added to after it had fired.
    corrected: Option<Handle>,
    /// Sessions that are listed as changed since their last result, and some that were.
    changed: Vec<Handle>,
    open_windows: usize,
}

/// The sessions of one key: most have one at a time.
#[derive(Debug)]
struct OfKey<Acc> {
    /// The latest; None if there is none at all.
    latest: Option<OpenSession<Acc>>,
    /// Those before it, in order of time. They do not overlap.
    earlier: VecDeque<OpenSession<Acc>>,
}

impl<Acc> OfKey<Acc> {
    fn new() -> Self {
        OfKey { latest: None, earlier: VecDeque::new() }
    }

    fn len(&self) -> usize {
        self.earlier.len() + usize::from(self.latest.is_some())
    }

    fn get(&self, place: usize) -> Option<&OpenSession<Acc>> {
        match self.earlier.get(place) {
            Some(session) => Some(session),
            None => self.latest.as_ref().filter(|_| place == self.earlier.len()),
        }
    }

    fn get_mut(&mut self, place: usize) -> Option<&mut OpenSession<Acc>> {
        if place == self.earlier.len() { self.latest.as_mut() } else { self.earlier.get_mut(place) }
    }

    fn insert(&mut self, place: usize, session: OpenSession<Acc>) {
        if place < self.len() {
            self.earlier.insert(place, session);
        } else if let Some(before) = self.latest.replace(session) {
            self.earlier.push_back(before);
        }
    }

    fn remove(&mut self, place: usize) -> Option<OpenSession<Acc>> {
        if place < self.earlier.len() {
            let removed = self.earlier.remove(place);
            if self.earlier.len() < self.earlier.capacity() / 8 {
                self.earlier.shrink_to(self.earlier.len() * 2);
            }
            removed
        } else {
            let before = self.earlier.pop_back();
            mem::replace(&mut self.latest, before)
        }
    }

    /// Where the session of a handle is, if there still is one.
    #[inline]
    fn place_of(&self, handle: &Handle) -> Option<usize> {
        let is_it = |session: &OpenSession<Acc>| session.id == handle.id;
        // What is due is the only one, or the oldest, most of the time.
        if self.earlier.is_empty() {
            return self.latest.as_ref().is_some_and(is_it).then_some(0);
        }
        if self.earlier.front().is_some_and(is_it) {
            return Some(0);
        }
        let place = self.earlier.partition_point(|session| session.window.end <= handle.within);
        self.get(place).filter(|session| is_it(session)).map(|_| place)
    }

    /// The sessions that overlap a window: neighbours, for sessions are in order and apart.
    #[inline]
    fn overlapping(&self, window: Window) -> Range<usize> {
        // What comes belongs to the latest, or behind it, most of the time.
        let Some(latest) = &self.latest else { return 0..0 };
        let len = self.len();
        if latest.window.end <= window.start {
            return len..len;
        }
        if self.earlier.back().is_none_or(|session| session.window.end <= window.start) {
            return len - 1..len - usize::from(window.end <= latest.window.start);
        }
        let first = self.earlier.partition_point(|session| session.window.end <= window.start);
        if latest.window.start < window.end {
            return first..len;
        }
        first..self.earlier.partition_point(|session| session.window.start < window.end)
    }
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
#[derive(Clone, Copy, Debug)]
struct Handle {
    key: Slot,
    /// An instant of the session, to find it by: sessions only grow.
    within: Timestamp,
    id: u64,
}

/// A session that is due.
#[derive(Debug)]
struct Due {
    window: Window,
    handle: Handle,
    timing: Timing,
    /// Its lateness is over.
    is_gone: bool,
}

impl<K: Key, Acc: Data> SessionStore<K, Acc> {
    fn session_mut(&mut self, handle: &Handle) -> Option<&mut OpenSession<Acc>> {
        let of_key = self.sessions.get_mut(handle.key as usize)?;
        let place = of_key.place_of(handle)?;
        of_key.get_mut(place)
    }

    /// Forgets a session, and with the last one of a key the key.
    fn forget(&mut self, handle: &Handle) {
        let Some(of_key) = self.sessions.get_mut(handle.key as usize) else { return };
        let Some(place) = of_key.place_of(handle) else { return };
        of_key.remove(place);
        self.open_windows -= 1;
        self.keys.release(handle.key);
    }

    /// Lists a session as changed. Those that need not be listed any more are taken off once they are most of the list.
    fn list(&mut self, handle: Handle) {
        if self.changed.len() > 2 * self.open_windows {
            let sessions = &self.sessions;
            self.changed.retain(|handle| {
                let session = sessions.get(handle.key as usize).and_then(|of_key| of_key.get(of_key.place_of(handle)?));
                session.is_some_and(|session| session.is_listed)
            });
        }
        self.changed.push(handle);
    }

    fn hand_out(&mut self, mut due: Vec<Due>, emit: &mut impl HandOut<K, Acc>) {
        let key = |due: &Due| self.keys.key(due.handle.key);
        due.sort_unstable_by(|a, b| a.window.cmp(&b.window).then_with(|| key(a).cmp(&key(b))));
        for Due { window, handle, timing, is_gone } in due {
            let Some(of_key) = self.sessions.get_mut(handle.key as usize) else { continue };
            let Some(session) = of_key.place_of(&handle).and_then(|place| of_key.get_mut(place)) else { continue };
            let Some(key) = self.keys.key(handle.key) else { continue };
            session.is_listed = false;
            let mut replaces: Vec<_> = session.standing.iter().copied().filter(|&old| old != window).collect();
            replaces.sort_unstable();
            let replaces = Replaced::new(replaces);
            let (acc, update) = (&session.acc, session.results);
            if emit.take(Firing { key, window, acc, timing, update, replaces }) {
                session.results = session.results.saturating_add(1);
                session.standing.clear();
                // Of a session that goes now nothing is left to replace.
                if !is_gone {
                    session.standing.push(window);
                }
            }
            if is_gone {
                self.forget(&handle);
            }
        }
    }

    /// An event has joined a session that ends here. It is listed where that is wanted.
    #[inline]
    fn placed(&mut self, handle: Handle, end: Timestamp, watermark: Timestamp) -> Placed {
        let due = end <= watermark;
        if due {
            self.corrected = Some(handle);
        } else if self.emits_early
            && let Some(session) = self.session_mut(&handle)
            && !mem::replace(&mut session.is_listed, true)
        {
            self.list(handle);
        }
        Placed::Taken { partly_late: false, due }
    }

    /// A session of a key that overlaps none of its others, and belongs here.
    fn open(&mut self, slot: Slot, place: usize, window: Window, acc: Acc) -> u64 {
        self.next_id += 1;
        let (pending, is_listed, results, standing) = (true, false, 0, Vec::new());
        let opened = OpenSession { id: self.next_id, window, acc, pending, is_listed, results, standing };
        if self.sessions.len() < self.keys.slots() {
            self.sessions.resize_with(self.keys.slots(), OfKey::new);
        }
        if let Some(of_key) = self.sessions.get_mut(slot as usize) {
            of_key.insert(place, opened);
        }
        self.keys.take(slot);
        self.open_windows += 1;
        self.due.push(window.end, Handle { key: slot, within: window.start, id: self.next_id });
        self.next_id
    }
}

impl<K: Key, Acc: Data> WindowStore<K, Acc> for SessionStore<K, Acc> {
    fn add<T, A>(&mut self, key: Cow<'_, K>, at: Timestamp, event: &T, aggregate: &A, watermark: Timestamp) -> Placed
    where
        A: Aggregate<T, Acc = Acc>,
    {
        let Some(end) = at.as_micros().checked_add(self.gap.as_micros()) else { return Placed::OutOfRange };
        let window = Window::new(at, Timestamp::from_micros(end));
        let slot = self.keys.known(&key);
        let of_key = slot.and_then(|slot| self.sessions.get(slot as usize));
        let overlapping = of_key.map_or(0..0, |of_key| of_key.overlapping(window));
        if overlapping.is_empty() && window.end.plus(self.lateness) <= watermark {
            return Placed::Late;
        }
        let Some(slot) = slot.or_else(|| self.keys.add(key.into_owned())) else { return Placed::TooManyKeys };
        if overlapping.is_empty() {
            let mut acc = aggregate.create();
            aggregate.add(&mut acc, at, event);
            let id = self.open(slot, overlapping.start, window, acc);
            return self.placed(Handle { key: slot, within: at, id }, window.end, watermark);
        }

        let Some(of_key) = self.sessions.get_mut(slot as usize) else { return Placed::TooManyKeys };
        let swallowed: Vec<_> =
            (overlapping.start + 1..overlapping.end).rev().filter_map(|place| of_key.remove(place)).collect();
        let Some(session) = of_key.get_mut(overlapping.start) else { return Placed::TooManyKeys };
        session.window.start = session.window.start.min(window.start);
        session.window.end = session.window.end.max(window.end);
        for mut other in swallowed.into_iter().rev() {
            session.window.end = session.window.end.max(other.window.end);
            aggregate.merge(&mut session.acc, other.acc);
            session.results = session.results.saturating_add(other.results);
            session.standing.append(&mut other.standing);
            self.keys.release(slot);
            self.open_windows -= 1;
        }
        aggregate.add(&mut session.acc, at, event);
        let fires_again = !session.pending && watermark < session.window.end;
        if fires_again {
            // Its entry in the queue waits for the end of its lateness, and there is an end to wait for now.
            session.pending = true;
            self.next_id += 1;
            session.id = self.next_id;
            self.due.push(session.window.end, Handle { key: slot, within: at, id: session.id });
        }
        let (handle, end) = (Handle { key: slot, within: at, id: session.id }, session.window.end);
        self.placed(handle, end, watermark)
    }

    #[inline]
    fn moves(&mut self, watermark: Timestamp) -> bool {
        self.corrected.is_some() || self.due.may_have_due(watermark)
    }

    fn fire(&mut self, watermark: Timestamp, _parts: &impl Parts<Acc>, emit: &mut impl HandOut<K, Acc>) {
        let mut due = Vec::new();
        if let Some(handle) = self.corrected.take()
            && let Some(session) = self.session_mut(&handle)
        {
            session.pending = false;
            // If its lateness is over, its entry in the queue says so.
            due.push(Due { window: session.window, handle, timing: Timing::Late, is_gone: false });
        }
        while let Some((_, handle)) = self.due.pop_due(watermark) {
            let Some(of_key) = self.sessions.get_mut(handle.key as usize) else { continue };
            let Some(session) = of_key.place_of(&handle).and_then(|place| of_key.get_mut(place)) else { continue };
            let window = session.window;
            if watermark < window.end {
                self.due.push(window.end, handle);
                continue;
            }
            let gone_at = window.end.plus(self.lateness);
            let is_gone = gone_at <= watermark;
            if mem::take(&mut session.pending) {
                due.push(Due { window, handle, timing: Timing::OnTime, is_gone });
            } else if is_gone {
                self.forget(&handle);
            }
            if !is_gone {
                self.due.push(gone_at, handle);
            }
        }
        self.hand_out(due, emit);
    }

    fn upcoming<'a>(&mut self, keys: impl Iterator<Item = &'a K>)
    where
        K: 'a,
    {
        self.keys.expect(keys);
    }

    fn fire_early(&mut self, emit: &mut impl HandOut<K, Acc>) {
        let mut due = Vec::new();
        for handle in mem::take(&mut self.changed) {
            if let Some(session) = self.session_mut(&handle)
                && session.is_listed
            {
                due.push(Due { window: session.window, handle, timing: Timing::Early, is_gone: false });
            }
        }
        self.hand_out(due, emit);
    }

    fn open_windows(&self) -> usize {
        self.open_windows
    }
}
