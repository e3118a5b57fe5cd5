//! The semantics once more, in the plainest way: the raw events of each window, lists that are searched from end to end,
//! no accumulator, no index, no timer.

use ministream::Timing;
use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Event)]
pub(crate) struct Row<K> {
    pub(crate) id: u64,
    pub(crate) key: K,
    #[event(time, unit = "us")]
    pub(crate) ts: i64,
    pub(crate) value: i64,
}

/// A window as the model knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Windows of one size, one every step, behind an offset.
    Aligned {
        size: i64,
        every: i64,
        offset: i64,
    },
    Session {
        gap: i64,
    },
    /// One window over all time; there are early results then, and no lateness.
    Global,
}

/// When there are results before the end of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Early {
    OnUpdate,
    Every(i64),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) kind: Kind,
    pub(crate) delay: i64,
    pub(crate) lateness: i64,
    pub(crate) emit: Option<Early>,
    /// None: no `dedup` at all.
    pub(crate) ttl: Option<i64>,
    pub(crate) max_ahead: Option<i64>,
}

/// Sum, count, min, max, mean; first, last, and all events.
pub(crate) type Values<K> = ((i64, u64, i64, i64, f64), (i64, i64, Vec<Row<K>>));

/// A result: key, window, values, when it came, how many results came before it, and the windows it replaces.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fired<K> {
    pub(crate) key: K,
    pub(crate) window: (i64, i64),
    pub(crate) values: Values<K>,
    pub(crate) timing: Timing,
    pub(crate) update: u32,
    pub(crate) replaces: Vec<(i64, i64)>,
}

/// What one event brought about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step<K> {
    pub(crate) fired: Vec<Fired<K>>,
    pub(crate) fate: Fate,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    Counted,
    /// With the watermark that made it late.
    Late(i64),
    Duplicate,
    Rejected,
}

#[derive(Debug)]
struct Open<K> {
    key: K,
    window: (i64, i64),
    rows: Vec<Row<K>>,
    /// It has not fired since it was opened or merged.
    pending: bool,
    /// It has given no result since an event joined it.
    changed: bool,
    /// How many results came of it, and of what was merged into it.
    update: u32,
    /// The bounds of earlier results that no later one has taken the place of.
    results: Vec<(i64, i64)>,
}

#[derive(Debug)]
pub(crate) struct Model<K> {
    settings: Settings,
    pub(crate) watermark: Option<i64>,
    largest: Option<i64>,
    seen: Vec<(u64, i64)>,
    open: Vec<Open<K>>,
    pub(crate) partly_late: u64,
}

impl<K: Clone + Ord> Model<K> {
    pub(crate) fn new(settings: Settings) -> Self {
        Model { settings, watermark: None, largest: None, seen: Vec::new(), open: Vec::new(), partly_late: 0 }
    }

    pub(crate) fn open_windows(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn ids(&self) -> usize {
        let Some(ttl) = self.settings.ttl else { return 0 };
        self.seen.iter().filter(|(_, first)| !self.is_past(first + ttl)).count()
    }

    fn is_past(&self, instant: i64) -> bool {
        self.watermark.is_some_and(|watermark| instant <= watermark)
    }

    pub(crate) fn push(&mut self, row: &Row<K>) -> Step<K> {
        let Settings { kind, delay, ttl, max_ahead, .. } = self.settings;
        let known = |ttl: i64| self.seen.iter().any(|&(id, first)| id == row.id && !self.is_past(first + ttl));
        if ttl.is_some_and(known) {
            return Step { fired: Vec::new(), fate: Fate::Duplicate };
        }
        if let (Some(largest), Some(max_ahead)) = (self.largest, max_ahead)
            && largest + max_ahead < row.ts
        {
            return Step { fired: Vec::new(), fate: Fate::Rejected };
        }
        self.seen.push((row.id, row.ts));
        let windows: Vec<_> = match kind {
            Kind::Aligned { size, every, offset } => (row.ts - size + 1..=row.ts)
                .filter(|start| (start - offset).rem_euclid(every) == 0)
                .map(|start| (start, start + size))
                .collect(),
            Kind::Session { gap } => vec![(row.ts, row.ts + gap)],
            Kind::Global => vec![(i64::MIN, i64::MAX)],
        };
        let joined = windows.iter().filter(|window| self.join(row, **window)).count();
        let fate = match self.watermark {
            Some(watermark) if joined == 0 => Fate::Late(watermark),
            _ => Fate::Counted,
        };
        self.partly_late += u64::from(0 < joined && joined < windows.len());
        let mut fired = self.fire(Timing::Late);
        if self.settings.emit == Some(Early::OnUpdate) {
            fired.extend(self.fire_early());
        }
        self.largest = self.largest.max(Some(row.ts));
        fired.extend(self.advance(self.largest.map_or(row.ts, |largest| largest - delay)));
        Step { fired, fate }
    }

    /// Adds a row to a window, merged with those that it overlaps; false if that is gone.
    fn join(&mut self, row: &Row<K>, window: (i64, i64)) -> bool {
        let is_session = matches!(self.settings.kind, Kind::Session { .. });
        let overlaps = |open: &Open<K>| match is_session {
            true => open.window.0 < window.1 && window.0 < open.window.1,
            false => open.window == window,
        };
        let takes = |open: &Open<K>| open.key == row.key && overlaps(open);
        let joined = || self.open.iter().filter(|open| takes(open)).map(|open| open.window);
        let start = joined().map(|window| window.0).fold(window.0, i64::min);
        let end = joined().map(|window| window.1).fold(window.1, i64::max);
        if self.is_past(end + self.settings.lateness) {
            return false;
        }
        let (mut rows, mut update, mut results) = (vec![row.clone()], 0, Vec::new());
        for open in self.open.iter().filter(|open| takes(open)) {
            rows.extend(open.rows.iter().cloned());
            update += open.update;
            results.extend(&open.results);
        }
        self.open.retain(|open| !takes(open));
        let (key, window) = (row.key.clone(), (start, end));
        self.open.push(Open { key, window, rows, pending: true, changed: true, update, results });
        true
    }

    pub(crate) fn advance(&mut self, to: i64) -> Vec<Fired<K>> {
        let before = self.watermark;
        self.watermark = self.watermark.max(Some(to));
        let mut fired = self.fire(Timing::OnTime);
        if let (Some(Early::Every(step)), Some(before)) = (self.settings.emit, before)
            && (before + 1..=to).any(|instant| instant % step == 0)
        {
            fired.extend(self.fire_early());
        }
        let (watermark, lateness) = (self.watermark, self.settings.lateness);
        self.open.retain(|open| watermark.is_none_or(|watermark| watermark < open.window.1 + lateness));
        fired
    }

    pub(crate) fn finish(&mut self) -> Vec<Fired<K>> {
        self.watermark = Some(i64::MAX);
        self.fire(Timing::OnTime)
    }

    /// All that is due and has not fired, in order.
    fn fire(&mut self, timing: Timing) -> Vec<Fired<K>> {
        let Some(watermark) = self.watermark else { return Vec::new() };
        self.hand_out(timing, |open| open.pending && open.window.1 <= watermark)
    }

    /// All that is not due yet and has changed, in order.
    fn fire_early(&mut self) -> Vec<Fired<K>> {
        let watermark = self.watermark;
        self.hand_out(Timing::Early, |open| open.changed && watermark.is_none_or(|watermark| watermark < open.window.1))
    }

    fn hand_out(&mut self, timing: Timing, chosen: impl Fn(&Open<K>) -> bool) -> Vec<Fired<K>> {
        self.open.sort_by(|a, b| (a.window.1, a.window.0, &a.key).cmp(&(b.window.1, b.window.0, &b.key)));
        let chosen = self.open.iter_mut().filter(|open| chosen(open));
        chosen
            .map(|open| {
                open.pending &= timing == Timing::Early;
                open.changed = false;
                let mut replaces: Vec<_> = open.results.iter().copied().filter(|&old| old != open.window).collect();
                replaces.sort_by_key(|&(start, end)| (end, start));
                open.results = vec![open.window];
                open.update += 1;
                let (update, values) = (open.update - 1, values(&open.rows));
                Fired { key: open.key.clone(), window: open.window, values, timing, update, replaces }
            })
            .collect()
    }
}

/// The aggregates of a window's events, each worked out from all of them.
fn values<K: Clone + Ord>(rows: &[Row<K>]) -> Values<K> {
    let numbers = || rows.iter().map(|row| row.value);
    let (sum, count) = (numbers().sum::<i64>(), rows.len());
    let (min, max) = (numbers().min().unwrap(), numbers().max().unwrap());
    let timed = || rows.iter().map(|row| (row.ts, row.value));
    let (first, last) = (timed().min().unwrap().1, timed().max().unwrap().1);
    let mut all = rows.to_vec();
    all.sort_by(|a, b| (a.ts, a).cmp(&(b.ts, b)));
    ((sum, count as u64, min, max, sum as f64 / count as f64), (first, last, all))
}
