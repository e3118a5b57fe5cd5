//! The jobs as one writes them with the standard library, for events that are never late: a map a window, fired in order
//! when the watermark reaches its end.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::results::Sink;
use crate::workload::{Click, User};

const TTL: i64 = 600_000;

/// A job as an operator: what a loop, or timely, feeds.
pub trait Plain<U> {
    fn push(&mut self, click: &Click<U>, out: &mut impl Sink<U>);
    fn finish(&mut self, out: &mut impl Sink<U>);
}

/// Jobs A (with `dedup`), B (tumbling: `every` is `size`) and C.
pub struct Windows<U> {
    dedup: bool,
    size: i64,
    every: i64,
    delay: i64,
    watermark: i64,
    windows: BTreeMap<i64, HashMap<U, i64>>,
    ids: HashMap<u64, i64>,
    swept: i64,
}

impl<U: User> Windows<U> {
    pub fn new(dedup: bool, size: i64, every: i64, delay: i64) -> Self {
        let (windows, ids) = (BTreeMap::new(), HashMap::new());
        Self { dedup, size, every, delay, watermark: i64::MIN, windows, ids, swept: i64::MIN }
    }

    fn is_copy(&mut self, click: &Click<U>) -> bool {
        let watermark = self.watermark;
        if self.ids.get(&click.id).is_some_and(|forget_at| watermark < *forget_at) {
            return true;
        }
        self.ids.insert(click.id, click.ts + TTL);
        if watermark >= self.swept.saturating_add(TTL / 10) {
            self.swept = watermark;
            self.ids.retain(|_, forget_at| watermark < *forget_at);
        }
        false
    }

    fn fire(&mut self, out: &mut impl Sink<U>) {
        while let Some(first) = self.windows.first_entry()
            && *first.key() <= self.watermark
        {
            let (end, sums) = first.remove_entry();
            let mut sums: Vec<_> = sums.into_iter().collect();
            sums.sort_unstable();
            for (user, sum) in sums {
                out.result(end - self.size, end, &user, sum, false);
            }
        }
    }
}

impl<U: User> Plain<U> for Windows<U> {
    fn push(&mut self, click: &Click<U>, out: &mut impl Sink<U>) {
        if self.dedup && self.is_copy(click) {
            return;
        }
        let mut start = click.ts.div_euclid(self.every) * self.every;
        while start + self.size > click.ts {
            *self.windows.entry(start + self.size).or_default().entry(click.user.clone()).or_default() += click.value;
            start -= self.every;
        }
        if click.ts - self.delay > self.watermark {
            self.watermark = click.ts - self.delay;
            self.fire(out);
        }
    }

    fn finish(&mut self, out: &mut impl Sink<U>) {
        self.watermark = i64::MAX;
        self.fire(out);
    }
}

/// Job D.
pub struct Sessions<U> {
    gap: i64,
    delay: i64,
    watermark: i64,
    /// Of each user the open sessions: start, end, sum.
    open: HashMap<U, Vec<(i64, i64, i64)>>,
    due: BTreeSet<(i64, i64, U)>,
}

impl<U: User> Sessions<U> {
    pub fn new(gap: i64, delay: i64) -> Self {
        Self { gap, delay, watermark: i64::MIN, open: HashMap::new(), due: BTreeSet::new() }
    }

    fn fire(&mut self, out: &mut impl Sink<U>) {
        while self.due.first().is_some_and(|first| first.0 <= self.watermark)
            && let Some((end, start, user)) = self.due.pop_first()
        {
            if let Some(open) = self.open.get_mut(&user)
                && let Some(position) = open.iter().position(|session| session.0 == start && session.1 == end)
            {
                let (_, _, sum) = open.swap_remove(position);
                if open.is_empty() {
                    self.open.remove(&user);
                }
                out.result(start, end, &user, sum, false);
            }
        }
    }
}

impl<U: User> Plain<U> for Sessions<U> {
    fn push(&mut self, click: &Click<U>, out: &mut impl Sink<U>) {
        let (mut start, mut end, mut sum) = (click.ts, click.ts + self.gap, click.value);
        let open = self.open.entry(click.user.clone()).or_default();
        open.retain(|&(other_start, other_end, other_sum)| {
            let overlaps = other_start < end && start < other_end;
            if overlaps {
                self.due.remove(&(other_end, other_start, click.user.clone()));
                start = start.min(other_start);
                end = end.max(other_end);
                sum += other_sum;
            }
            !overlaps
        });
        open.push((start, end, sum));
        self.due.insert((end, start, click.user.clone()));
        if click.ts - self.delay > self.watermark {
            self.watermark = click.ts - self.delay;
            self.fire(out);
        }
    }

    fn finish(&mut self, out: &mut impl Sink<U>) {
        self.watermark = i64::MAX;
        self.fire(out);
    }
}
