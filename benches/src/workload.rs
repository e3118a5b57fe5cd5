//! The events: 10,000 users, one event a millisecond, arrival out of order by up to 3 s, one in a hundred delivered twice.

use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
pub struct Click {
    pub id: u64,
    pub user: u64,
    #[event(time, unit = "ms")]
    pub ts: i64,
    pub value: i64,
}

/// The same events for the same number, whatever the machine.
pub fn clicks(events: usize) -> Vec<Click> {
    let mut state = 1_u64;
    // SplitMix64.
    let mut random = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut arrivals = Vec::with_capacity(events + events / 100);
    for ts in (0_i64..).take(events) {
        let click = Click { id: random(), user: random() % 10_000, ts, value: (random() % 1_000) as i64 };
        arrivals.push((ts + (random() % 3_000) as i64, click));
    }
    for copy in 0..events / 100 {
        let (arrival, click) = arrivals[copy * 100].clone();
        arrivals.push((arrival + (random() % 500) as i64, click));
    }
    arrivals.sort_by_key(|(arrival, _)| *arrival);
    let mut largest = i64::MIN;
    arrivals.retain(|(_, click)| {
        largest = largest.max(click.ts);
        // A copy may come later than the delay; the plain loops know nothing of late events.
        click.ts >= largest - 3_000
    });
    arrivals.into_iter().map(|(_, click)| click).collect()
}
