//! The events: one a millisecond of event time, arrival out of order by less than the delay, one in a hundred delivered twice.

use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
pub struct Click<U> {
    pub id: u64,
    pub user: U,
    #[event(time, unit = "ms")]
    pub ts: i64,
    pub value: i64,
}

/// What the events are keyed by.
pub trait User: ministream::Key + Data + Sync {
    fn numbered(number: u64) -> Self;
    /// What a digest takes of it.
    fn word(&self) -> u64;
}

impl User for u64 {
    fn numbered(number: u64) -> Self {
        number
    }

    fn word(&self) -> u64 {
        *self
    }
}

impl User for String {
    fn numbered(number: u64) -> Self {
        format!("user-{number:08}")
    }

    fn word(&self) -> u64 {
        self.bytes().rev().take(8).fold(0, |word, byte| word << 8 | u64::from(byte))
    }
}

/// How users are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skew {
    Uniform,
    /// The nth user comes in proportion to 1 / n.
    Zipf,
}

/// What the events are like. Times in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    pub events: usize,
    pub users: u64,
    pub skew: Skew,
    /// Arrival is out of order by less than this, which is the delay of the jobs.
    pub delay: i64,
    /// One in a hundred arrives this much later.
    pub straggle: i64,
}

impl Workload {
    pub fn new(events: usize) -> Self {
        Self { events, users: 10_000, skew: Skew::Uniform, delay: 3_000, straggle: 0 }
    }

    /// The same events for the same workload, whatever the machine.
    pub fn clicks<U: User>(self) -> Vec<Click<U>> {
        let mut random = SplitMix(1);
        let users = self.users as f64;
        let mut arrivals = Vec::with_capacity(self.events + self.events / 100);
        for ts in (0_i64..).take(self.events) {
            let id = random.next();
            let user = match self.skew {
                Skew::Uniform => random.next() % self.users,
                // The inverse of the continuous distribution with density 1 / x.
                Skew::Zipf => (users.powf(random.next() as f64 / u64::MAX as f64) as u64 - 1) % self.users,
            };
            let click = Click { id, user, ts, value: (random.next() % 1_000) as i64 };
            let shuffle = if self.delay > 0 { (random.next() % self.delay as u64) as i64 } else { 0 };
            let straggle = if ts % 100 == 50 { self.straggle } else { 0 };
            arrivals.push((ts + shuffle + straggle, click));
        }
        for copy in 0..self.events / 100 {
            let (arrival, click) = arrivals[copy * 100].clone();
            arrivals.push((arrival + (random.next() % 500) as i64, click));
        }
        arrivals.sort_by_key(|(arrival, _)| *arrival);
        let mut largest = i64::MIN;
        arrivals.retain(|(_, click)| {
            largest = largest.max(click.ts);
            // A copy may come later than the delay; the plain loops know nothing of late events.
            self.straggle > 0 || click.ts >= largest - self.delay
        });
        let named = |Click { id, user, ts, value }: Click<u64>| Click { id, user: U::numbered(user), ts, value };
        arrivals.into_iter().map(|(_, click)| named(click)).collect()
    }
}

struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
