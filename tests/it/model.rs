//! The semantics once more, in the plainest way: lists that are searched from end to end, no index, no timer.

use std::collections::BTreeSet;

/// An event: its id, its key, its time, its value.
pub(crate) type Row = (u64, u8, i64, i64);

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
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) kind: Kind,
    pub(crate) delay: i64,
    pub(crate) lateness: i64,
    pub(crate) ttl: Option<i64>,
}

/// A result: key, window, sum, whether it is an update, and the windows it replaces.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Result {
    pub(crate) key: u8,
    pub(crate) window: (i64, i64),
    pub(crate) sum: i64,
    pub(crate) is_update: bool,
    pub(crate) replaces: Vec<(i64, i64)>,
}

/// What one event brought about.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Step {
    pub(crate) results: Vec<Result>,
    pub(crate) late: bool,
    pub(crate) duplicate: bool,
}

#[derive(Clone, Debug)]
struct Open {
    key: u8,
    window: (i64, i64),
    sum: i64,
    pending: bool,
    results: Vec<(i64, i64)>,
}

pub(crate) struct Model {
    settings: Settings,
    watermark: Option<i64>,
    largest: Option<i64>,
    seen: Vec<(u64, i64)>,
    open: Vec<Open>,
}

impl Model {
    pub(crate) fn new(settings: Settings) -> Self {
        Model { settings, watermark: None, largest: None, seen: Vec::new(), open: Vec::new() }
    }

    pub(crate) fn push(&mut self, (id, key, ts, value): Row) -> Step {
        let is_past = |instant: i64| self.watermark.is_some_and(|watermark| instant <= watermark);
        if let Some(ttl) = self.settings.ttl {
            if self.seen.iter().any(|&(seen, first)| seen == id && !is_past(first + ttl)) {
                return Step { duplicate: true, ..Step::default() };
            }
            self.seen.push((id, ts));
        }
        let lateness = self.settings.lateness;
        let windows: Vec<_> = match self.settings.kind {
            Kind::Aligned { size, every, offset } => (ts - size + 1..=ts)
                .filter(|start| (start - offset).rem_euclid(every) == 0)
                .map(|start| (start, start + size))
                .filter(|(_, end)| !is_past(end + lateness))
                .collect(),
            Kind::Session { gap } => vec![(ts, ts + gap)],
        };
        let mut changed = BTreeSet::new();
        for window in windows {
            let mut joined = Open { key, window, sum: value, pending: false, results: Vec::new() };
            let mut others = Vec::new();
            for open in self.open.drain(..) {
                let overlaps = match self.settings.kind {
                    Kind::Aligned { .. } => open.window == window,
                    Kind::Session { .. } => open.window.0 < window.1 && window.0 < open.window.1,
                };
                if open.key == key && overlaps {
                    joined.window.0 = joined.window.0.min(open.window.0);
                    joined.window.1 = joined.window.1.max(open.window.1);
                    joined.sum += open.sum;
                    joined.results.extend(open.results);
                } else {
                    others.push(open);
                }
            }
            self.open = others;
            let is_past = |instant: i64| self.watermark.is_some_and(|watermark| instant <= watermark);
            if !is_past(joined.window.1 + lateness) {
                joined.pending = true;
                changed.insert(joined.window);
                self.open.push(joined);
            }
        }
        let mut step = Step { late: changed.is_empty(), ..Step::default() };
        step.results.extend(self.fire());
        self.largest = self.largest.max(Some(ts));
        self.watermark = self.watermark.max(self.largest.map(|largest| largest - self.settings.delay));
        step.results.extend(self.fire());
        self.open.retain(|open| self.watermark.is_none_or(|watermark| watermark < open.window.1 + lateness));
        step
    }

    pub(crate) fn finish(&mut self) -> Vec<Result> {
        self.watermark = Some(i64::MAX);
        self.fire()
    }

    /// All that is due and has changed, in order.
    fn fire(&mut self) -> Vec<Result> {
        let Some(watermark) = self.watermark else { return Vec::new() };
        self.open.sort_by_key(|open| (open.window.1, open.window.0, open.key));
        let due = self.open.iter_mut().filter(|open| open.pending && open.window.1 <= watermark);
        due.map(|open| {
            open.pending = false;
            let mut replaces: Vec<_> = open.results.iter().copied().filter(|&old| old != open.window).collect();
            replaces.sort_by_key(|&(start, end)| (end, start));
            let is_update = !open.results.is_empty();
            open.results = vec![open.window];
            Result { key: open.key, window: open.window, sum: open.sum, is_update, replaces }
        })
        .collect()
    }
}
