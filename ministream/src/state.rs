//! What operators keep: hashing, and a queue of things that become due as the watermark moves. Knows nothing of windows.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::hash::Hash;

pub(crate) use self::ids::Ids;
pub(crate) use self::keys::{Keys, Slot};
pub(crate) use self::slots::SlotMap;
use crate::span::Span;
use crate::time::Timestamp;

mod ids;
mod keys;
mod slots;

/// The hash of all tables: seeded once per process, so that nobody outside can choose colliding keys. No order of results
/// may depend on it.
pub(crate) type BuildHasher = foldhash::fast::RandomState;

/// A map for operators' state.
pub(crate) type Map<K, V> = hashbrown::HashMap<K, V, BuildHasher>;

/// Gives memory back once a map holds far less than it has room for.
pub(crate) fn give_back<K: Eq + Hash, V>(map: &mut Map<K, V>) {
    if map.len() < map.capacity() / 8 {
        map.shrink_to(map.len() * 2);
    }
}

/// Things that become due at a timestamp, taken out once the watermark has reached it.
///
/// A calendar: items of the future lie unsorted in buckets of equal width, and a bucket is sorted when its turn comes. So
/// an item costs two moves, whatever the number of items, and the memory of a bucket is given back when it is through.
#[derive(Debug)]
pub(crate) struct DueQueue<T> {
    /// A bucket is `2^shift` microseconds wide.
    shift: u32,
    /// The bucket whose turn it is, the earliest item last.
    near: Vec<Due<T>>,
    /// Items that came after the turn of their bucket had.
    behind: BinaryHeap<Due<T>>,
    /// The number of the first bucket whose turn has not come.
    next: i64,
    /// The buckets from `next` on.
    ring: VecDeque<Vec<Due<T>>>,
    /// Items that were too far ahead for the ring, by bucket.
    far: BTreeMap<i64, Vec<Due<T>>>,
    /// Nothing is due before the watermark gets here.
    not_before: Timestamp,
}

#[derive(Debug)]
struct Due<T> {
    at: Timestamp,
    item: T,
}

impl<T> DueQueue<T> {
    /// A queue for items that are put in about `horizon` before they are due.
    pub(crate) fn new(horizon: Span) -> Self {
        const BUCKETS_IN_A_HORIZON: i64 = 64;
        DueQueue {
            shift: (horizon.as_micros() / BUCKETS_IN_A_HORIZON).max(1).ilog2(),
            near: Vec::new(),
            behind: BinaryHeap::new(),
            next: i64::MIN,
            ring: VecDeque::new(),
            far: BTreeMap::new(),
            not_before: Timestamp::MAX,
        }
    }

    fn is_empty(&self) -> bool {
        self.near.is_empty() && self.behind.is_empty() && self.ring.is_empty() && self.far.is_empty()
    }

    pub(crate) fn push(&mut self, at: Timestamp, item: T) {
        const RING: u64 = 192;
        let bucket = at.as_micros() >> self.shift;
        if self.is_empty() {
            self.next = bucket;
        }
        self.not_before = self.not_before.min(at);
        let due = Due { at, item };
        if bucket < self.next {
            self.behind.push(due);
            return;
        }
        let ahead = bucket.abs_diff(self.next);
        if ahead < RING {
            while self.ring.len() as u64 <= ahead {
                self.ring.push_back(Vec::new());
            }
            if let Some(bucket) = self.ring.get_mut(ahead as usize) {
                bucket.push(due);
            }
        } else {
            self.far.entry(bucket).or_default().push(due);
        }
    }

    /// Whether `pop_due` might give something: false, and nothing is due.
    #[inline]
    pub(crate) fn may_have_due(&self, watermark: Timestamp) -> bool {
        self.not_before <= watermark && !self.is_empty()
    }

    /// Takes out one of the earliest items, if it is due at `watermark` or before.
    pub(crate) fn pop_due(&mut self, watermark: Timestamp) -> Option<(Timestamp, T)> {
        loop {
            let (near, behind) = (self.near.last(), self.behind.peek());
            let Some(first) = near.into_iter().chain(behind).map(|due| due.at).min() else {
                if let Err(not_before) = self.turn(watermark) {
                    self.not_before = not_before;
                    return None;
                }
                continue;
            };
            self.not_before = first;
            if watermark < first {
                return None;
            }
            let due = if near.is_some_and(|near| near.at == first) { self.near.pop() } else { self.behind.pop() };
            return due.map(|due| (due.at, due.item));
        }
    }

    /// The next bucket that holds something has its turn; an error if the watermark has not reached it, with when it may be.
    fn turn(&mut self, watermark: Timestamp) -> Result<(), Timestamp> {
        loop {
            if self.ring.is_empty() {
                self.next = *self.far.keys().next().ok_or(Timestamp::MAX)?;
            }
            if watermark.as_micros() >> self.shift < self.next {
                return Err(Timestamp::from_micros(self.next << self.shift));
            }
            let mut bucket = self.ring.pop_front().unwrap_or_default();
            if let Some(first) = self.far.first_entry().filter(|first| *first.key() == self.next) {
                bucket.append(&mut first.remove());
            }
            self.next = self.next.saturating_add(1);
            if !bucket.is_empty() {
                bucket.sort_unstable_by_key(|due| Reverse(due.at));
                self.near = bucket;
                return Ok(());
            }
        }
    }
}

/// The heap is a maximum heap: the earliest item is the greatest.
impl<T> Ord for Due<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.cmp(&self.at)
    }
}

impl<T> PartialOrd for Due<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Due<T> {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl<T> Eq for Due<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn ts(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    fn pop_all(queue: &mut DueQueue<i64>, watermark: i64) -> Vec<i64> {
        std::iter::from_fn(|| queue.pop_due(ts(watermark)).map(|(_, item)| item)).collect()
    }

    #[test]
    fn items_come_out_in_order_and_not_before_they_are_due() {
        let mut queue = DueQueue::new(Span::from_micros(640));
        for at in [500, -3, 70, 71, 9, 10, 100_000] {
            queue.push(ts(at), at);
        }
        assert_eq!(pop_all(&mut queue, -4), [] as [i64; 0]);
        assert_eq!(pop_all(&mut queue, 9), [-3, 9]);
        assert_eq!(pop_all(&mut queue, 70), [10, 70]);
        queue.push(ts(5), 5);
        assert_eq!(pop_all(&mut queue, 99_999), [5, 71, 500]);
        assert_eq!(pop_all(&mut queue, 100_000), [100_000]);
    }

    #[test]
    fn the_ends_of_time_are_no_exception() {
        let mut queue = DueQueue::new(Span::from_micros(i64::MAX));
        queue.push(Timestamp::MAX, 2);
        queue.push(Timestamp::MIN, 1);
        assert_eq!(pop_all(&mut queue, i64::MAX - 1), [1]);
        assert_eq!(pop_all(&mut queue, i64::MAX), [2]);
    }

    #[test]
    fn agrees_with_a_sorted_list() {
        let mut queue = DueQueue::new(Span::from_micros(1_000));
        let mut model = Vec::new();
        let mut seed = 7_u64;
        for step in 0..2_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = step * 3 + i64::try_from(seed >> 54).unwrap();
            queue.push(ts(at), at);
            model.push(at);
            if step % 5 == 0 {
                model.sort_unstable();
                let due = model.partition_point(|&at| at <= step * 3);
                assert_eq!(pop_all(&mut queue, step * 3), model.drain(..due).collect::<Vec<_>>());
            }
        }
    }
}
