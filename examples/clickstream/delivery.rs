//! Delivers a log out of order and with copies, as unreliable networks do; the same seed gives the same delivery.

use std::time::Duration;

use crate::Request;

/// Each request is delayed by up to `delay`, so none lies further behind than that; `percent` of them come a second time,
/// up to `ttl` after they happened.
pub(crate) fn shuffled(requests: Vec<Request>, seed: u64, percent: u8, delay: Duration, ttl: Duration) -> Vec<Request> {
    let mut random = SplitMix64(seed);
    let mut arrivals = Vec::with_capacity(requests.len());
    for request in requests {
        if random.up_to(99) < u64::from(percent) {
            arrivals.push((random.after(request.ts, ttl), request.clone()));
        }
        arrivals.push((random.after(request.ts, delay), request));
    }
    arrivals.sort_by_key(|(arrival, _)| *arrival);
    arrivals.into_iter().map(|(_, request)| request).collect()
}

/// Steele, Lea and Flood's generator: a counter, and a mixer.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `largest`.
    fn up_to(&mut self, largest: u64) -> u64 {
        match largest.checked_add(1) {
            Some(bound) => self.next() % bound,
            None => self.next(),
        }
    }

    /// An instant up to `span` after `ts`, in milliseconds.
    fn after(&mut self, ts: i64, span: Duration) -> i64 {
        let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        ts.saturating_add_unsigned(self.up_to(millis))
    }
}
