//! Sessions: those of a key in the key's own slot, and in a timing wheel an entry for when the key has to be looked at. No
//! entry moves on an event: one that is found too early is put forward.

use super::keys::Keys;
use super::{LATENESS, Tuned};
use crate::results::Sink;
use crate::workload::{Click, User};

#[derive(Clone, Copy)]
struct Session {
    start: i64,
    end: i64,
    sum: i64,
    /// Whether it, or one that it has swallowed, has fired.
    has_fired: bool,
    waits: bool,
}

impl Session {
    fn due(&self) -> i64 {
        if self.waits { self.end } else { self.end.saturating_add(LATENESS) }
    }
}

#[derive(Default)]
struct Slot {
    first: Option<Session>,
    /// Rare further ones.
    others: Vec<Session>,
    /// When the wheel looks at the key; what else it holds of the key is out of date.
    looked_at: i64,
}

/// Job D.
pub struct Sessions<U> {
    gap: i64,
    delay: i64,
    watermark: i64,
    keys: Keys<U>,
    slots: Vec<Slot>,
    /// For each millisecond the head of a list in `nodes`, 0 for none.
    wheel: Vec<u32>,
    nodes: Vec<(u32, u32)>,
    free: u32,
    due: Vec<(i64, i64, u32, i64, bool)>,
    numbers: Vec<u32>,
}

impl<U: User> Sessions<U> {
    pub fn new(gap: i64, delay: i64) -> Self {
        let wheel = vec![0; (gap + 2 * delay + LATENESS).unsigned_abs().next_power_of_two() as usize];
        Self {
            gap,
            delay,
            watermark: i64::MIN,
            keys: Keys::default(),
            slots: Vec::new(),
            wheel,
            nodes: vec![(0, 0)],
            free: 0,
            due: Vec::new(),
            numbers: Vec::new(),
        }
    }

    fn look_at(&mut self, number: u32, at: i64) {
        // Further than the wheel reaches: looked at once on the way.
        let at = if self.watermark == i64::MIN { at } else { at.min(self.watermark + self.wheel.len() as i64) };
        self.slots[number as usize].looked_at = at;
        let place = at as usize & (self.wheel.len() - 1);
        let node = (number, self.wheel[place]);
        if self.free == 0 {
            self.wheel[place] = self.nodes.len() as u32;
            self.nodes.push(node);
        } else {
            self.wheel[place] = self.free;
            let free = &mut self.nodes[self.free as usize];
            self.free = free.1;
            *free = node;
        }
    }

    fn add(&mut self, click: &Click<U>, number: u32, out: &mut impl Sink<U>) {
        if number as usize >= self.slots.len() {
            self.slots.resize_with(self.keys.len(), Slot::default);
        }
        let slot = &mut self.slots[number as usize];
        let is_idle = slot.first.is_none();
        let mut merged =
            Session { start: click.ts, end: click.ts + self.gap, sum: click.value, has_fired: false, waits: false };
        let mut overlaps = false;
        let mut swallow = |other: &Session| {
            let overlap = other.start < merged.end && merged.start < other.end;
            if overlap {
                overlaps = true;
                merged.start = merged.start.min(other.start);
                merged.end = merged.end.max(other.end);
                merged.sum += other.sum;
                merged.has_fired |= other.has_fired;
            }
            overlap
        };
        if !slot.others.is_empty() {
            slot.others.retain(|other| !swallow(other));
        }
        if let Some(first) = slot.first
            && !swallow(&first)
        {
            slot.others.push(first);
        }
        let is_late = !overlaps && merged.end.saturating_add(LATENESS) <= self.watermark;
        if is_late {
            slot.first = slot.others.pop();
            return out.late();
        }
        if merged.end > self.watermark {
            merged.waits = true;
        } else {
            out.result(merged.start, merged.end, &click.user, merged.sum, merged.has_fired);
            merged.has_fired = true;
        }
        slot.first = Some(merged);
        let due = merged.due();
        if is_idle || due < slot.looked_at {
            self.look_at(number, due);
        }
    }

    fn advance(&mut self, to: i64, out: &mut impl Sink<U>) {
        let from = std::mem::replace(&mut self.watermark, to);
        let steps = if from == i64::MIN {
            self.wheel.len() as i64
        } else {
            to.saturating_sub(from).min(self.wheel.len() as i64)
        };
        let start = if from == i64::MIN { to } else { from };
        for step in 1..=steps {
            let place = start.wrapping_add(step) as usize & (self.wheel.len() - 1);
            let mut at = std::mem::take(&mut self.wheel[place]);
            while at != 0 {
                let (number, next) = self.nodes[at as usize];
                self.nodes[at as usize].1 = self.free;
                self.free = at;
                self.visit(number, place);
                at = next;
            }
        }
        if self.due.len() > 1 {
            self.due.sort_unstable_by(|a, b| {
                (a.1, a.0).cmp(&(b.1, b.0)).then_with(|| self.keys.key(a.2).cmp(self.keys.key(b.2)))
            });
        }
        for (start, end, number, sum, update) in self.due.drain(..) {
            out.result(start, end, self.keys.key(number), sum, update);
        }
    }

    fn visit(&mut self, number: u32, place: usize) {
        let slot = &mut self.slots[number as usize];
        if slot.looked_at as usize & (self.wheel.len() - 1) != place {
            return;
        }
        let mut next = i64::MAX;
        let (watermark, due) = (self.watermark, &mut self.due);
        let mut stays = |session: &mut Session| {
            if session.waits && session.end <= watermark {
                due.push((session.start, session.end, number, session.sum, session.has_fired));
                session.waits = false;
                session.has_fired = true;
            }
            let stays = session.due() > watermark;
            if stays {
                next = next.min(session.due());
            }
            stays
        };
        if !slot.others.is_empty() {
            slot.others.retain_mut(&mut stays);
        }
        if slot.first.as_mut().is_some_and(|first| !stays(first)) {
            slot.first = None;
        }
        if slot.first.is_none() {
            slot.first = slot.others.pop();
        }
        if slot.first.is_some() {
            self.look_at(number, next);
        }
    }
}

impl<U: User> Tuned<U> for Sessions<U> {
    fn push_batch(&mut self, clicks: &[Click<U>], out: &mut impl Sink<U>) {
        for clicks in clicks.chunks(256) {
            let mut numbers = std::mem::take(&mut self.numbers);
            numbers.clear();
            numbers.extend(clicks.iter().map(|click| self.keys.number(&click.user)));
            for (click, number) in clicks.iter().zip(&numbers) {
                self.add(click, *number, out);
                if click.ts - self.delay > self.watermark {
                    self.advance(click.ts - self.delay, out);
                }
            }
            self.numbers = numbers;
        }
    }

    fn finish(&mut self, out: &mut impl Sink<U>) {
        self.advance(i64::MAX, out);
    }
}
