//! Tumbling and sliding windows by slices: arrays over dense keys, reused; a running sum a key for what lies in the window.

use std::collections::VecDeque;

use super::ids::Ids;
use super::keys::{Keys, ones};
use super::{LATENESS, TTL, Tuned};
use crate::results::Sink;
use crate::workload::{Click, User};

/// The sums of one slice, and which keys have one.
#[derive(Default)]
struct Slice {
    sums: Vec<i64>,
    has: Vec<u64>,
}

impl Slice {
    fn has(&self, number: u32) -> bool {
        self.has.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    fn add(&mut self, number: u32, value: i64, keys: usize) {
        if number as usize >= self.sums.len() {
            self.sums.resize(keys.next_multiple_of(64), 0);
            self.has.resize(keys.div_ceil(64), 0);
        }
        self.sums[number as usize] += value;
        self.has[number as usize / 64] |= 1 << (number % 64);
    }

    fn clear(&mut self) {
        for number in ones(&self.has) {
            self.sums[number as usize] = 0;
        }
        self.has.fill(0);
    }
}

/// Jobs A (with `dedup`), B (tumbling: `every` is `size`) and C, whose `size` is a multiple of `every`.
pub struct Windows<U> {
    ids: Option<Ids>,
    size: i64,
    every: i64,
    delay: i64,
    watermark: i64,
    keys: Keys<U>,
    /// Slice `first + i` is `slices[i]`; all that a window which lives needs.
    slices: VecDeque<Slice>,
    first: i64,
    spare: Vec<Slice>,
    /// The end of the next window that fires.
    due: i64,
    /// Of the window that fired last: sum, number of slices with the key; and which keys have any.
    running: Vec<(i64, u32)>,
    present: Vec<u64>,
    numbers: Vec<u32>,
}

impl<U: User> Windows<U> {
    pub fn new(dedup: bool, size: i64, every: i64, delay: i64) -> Self {
        Self {
            ids: dedup.then(Ids::default),
            size,
            every,
            delay,
            watermark: i64::MIN,
            keys: Keys::default(),
            slices: VecDeque::new(),
            first: 0,
            spare: Vec::new(),
            due: i64::MAX,
            running: Vec::new(),
            present: Vec::new(),
            numbers: Vec::new(),
        }
    }

    fn add(&mut self, click: &Click<U>, number: u32, out: &mut impl Sink<U>) {
        let slice = click.ts.div_euclid(self.every);
        let last_end = slice * self.every + self.size;
        if last_end.saturating_add(LATENESS) <= self.watermark {
            return out.late();
        }
        if self.slices.is_empty() {
            self.first = slice;
            self.due = ((slice + 1) * self.every).max(self.due.min((slice + 1) * self.every));
        }
        while slice < self.first {
            self.first -= 1;
            self.slices.push_front(self.spare.pop().unwrap_or_default());
        }
        while slice >= self.first + self.slices.len() as i64 {
            self.slices.push_back(self.spare.pop().unwrap_or_default());
        }
        let end = (slice + 1) * self.every;
        if end <= self.watermark {
            return self.correct(click, slice, number, out);
        }
        self.due = self.due.min(end);
        self.slices[(slice - self.first) as usize].add(number, click.value, self.keys.len());
    }

    /// Adds to a slice some of whose windows have fired, and fires those that live again.
    fn correct(&mut self, click: &Click<U>, slice: i64, number: u32, out: &mut impl Sink<U>) {
        let at = (slice - self.first) as usize;
        let mut had = Vec::new();
        let mut end = (slice + 1) * self.every;
        while end <= self.watermark && end <= slice * self.every + self.size {
            if end.saturating_add(LATENESS) > self.watermark {
                had.push((end, self.sum(end, number).is_some()));
            }
            end += self.every;
        }
        let is_new = !self.slices[at].has(number);
        self.slices[at].add(number, click.value, self.keys.len());
        // The running window is the one that ends at `due - every`.
        if self.size > self.every
            && (slice + 1) * self.every < self.due
            && (slice + 1) * self.every + self.size > self.due - self.every
        {
            self.enter(number, click.value, is_new);
        }
        for (end, had) in had {
            if let Some(sum) = self.sum(end, number) {
                out.result(end - self.size, end, self.keys.key(number), sum, had);
            }
        }
    }

    fn sum(&self, end: i64, number: u32) -> Option<i64> {
        let last = end / self.every - self.first;
        let slices = (last - self.size / self.every).max(0)..last.min(self.slices.len() as i64);
        let sums = slices.map(|at| &self.slices[at as usize]).filter(|slice| slice.has(number));
        sums.map(|slice| slice.sums[number as usize]).reduce(|a, b| a + b)
    }

    fn enter(&mut self, number: u32, value: i64, is_new: bool) {
        let at = number as usize;
        if at >= self.running.len() {
            self.running.resize(self.keys.len(), (0, 0));
            self.present.resize(self.keys.len().div_ceil(64), 0);
        }
        let (sum, slices) = &mut self.running[at];
        *sum += value;
        *slices += u32::from(is_new);
        self.present[at / 64] |= 1 << (at % 64);
    }

    fn fire(&mut self, out: &mut impl Sink<U>) {
        while self.due <= self.watermark && self.first * self.every + self.size >= 0 && !self.slices.is_empty() {
            let (end, size) = (self.due, self.size);
            let entering = end / self.every - 1 - self.first;
            if size == self.every {
                if let Some(slice) = self.slices.get(entering as usize) {
                    self.keys.in_order(&slice.has, |user, number| {
                        out.result(end - size, end, user, slice.sums[number as usize], false);
                    });
                }
            } else {
                self.slide(entering, out);
            }
            self.due += self.every;
            let last = (self.first + self.slices.len() as i64 - 1) * self.every + self.size;
            if self.due > last {
                break;
            }
        }
        if self.due > (self.first + self.slices.len() as i64 - 1) * self.every + self.size {
            self.due = self
                .due
                .max(self.watermark.min(i64::MAX - self.every).div_euclid(self.every) * self.every + self.every);
        }
        while !self.slices.is_empty()
            && (self.first * self.every + self.size).saturating_add(LATENESS) <= self.watermark
        {
            if let Some(mut slice) = self.slices.pop_front() {
                slice.clear();
                self.spare.push(slice);
                self.first += 1;
            }
        }
    }

    /// One slice enters the running sums, and one leaves.
    fn slide(&mut self, entering: i64, out: &mut impl Sink<U>) {
        if let Ok(at) = usize::try_from(entering)
            && let Some(slice) = self.slices.get_mut(at)
        {
            let slice = std::mem::take(slice);
            for number in ones(&slice.has) {
                self.enter(number, slice.sums[number as usize], true);
            }
            self.slices[at] = slice;
        }
        if let Ok(at) = usize::try_from(entering - self.size / self.every)
            && let Some(slice) = self.slices.get(at)
        {
            for number in ones(&slice.has) {
                let (sum, slices) = &mut self.running[number as usize];
                *sum -= slice.sums[number as usize];
                *slices -= 1;
                if *slices == 0 {
                    self.present[number as usize / 64] &= !(1 << (number % 64));
                }
            }
        }
        let (end, size) = (self.due, self.size);
        self.keys.in_order(&self.present, |user, number| {
            out.result(end - size, end, user, self.running[number as usize].0, false);
        });
    }
}

impl<U: User> Tuned<U> for Windows<U> {
    fn push_batch(&mut self, clicks: &[Click<U>], out: &mut impl Sink<U>) {
        for clicks in clicks.chunks(256) {
            if let Some(ids) = &self.ids {
                ids.touch(clicks.iter().map(|click| click.id));
            }
            let mut numbers = std::mem::take(&mut self.numbers);
            numbers.clear();
            numbers.extend(clicks.iter().map(|click| self.keys.number(&click.user)));
            for (click, number) in clicks.iter().zip(&numbers) {
                let watermark = self.watermark;
                if self.ids.as_mut().is_some_and(|ids| !ids.insert(click.id, watermark, click.ts + TTL)) {
                    continue;
                }
                self.add(click, *number, out);
                self.watermark = watermark.max(click.ts - self.delay);
                if self.watermark >= self.due {
                    self.fire(out);
                }
            }
            self.numbers = numbers;
        }
    }

    fn finish(&mut self, out: &mut impl Sink<U>) {
        self.watermark = i64::MAX;
        self.fire(out);
    }
}
