//! What operators keep: hashing, and a queue of things that become due as the watermark moves. Knows nothing of windows.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
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
/// A calendar: items of the far future lie unsorted in buckets of equal width, and only the nearest bucket is a heap. So
/// an item costs two moves, whatever the number of items, and the memory of a bucket is given back when it is through.
#[derive(Debug)]
pub(crate) struct DueQueue<T> {
    width: i64,
    /// Items due before `near_end`.
    near: BinaryHeap<Due<T>>,
    /// The bucket that is `near`; None before the first item.
    near_bucket: Option<i64>,
    /// Buckets behind `near_bucket`, by number.
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
        let width = (horizon.as_micros() / BUCKETS_IN_A_HORIZON).max(1);
        let (near, far) = (BinaryHeap::new(), BTreeMap::new());
        DueQueue { width, near, near_bucket: None, far, not_before: Timestamp::MAX }
    }

    pub(crate) fn push(&mut self, at: Timestamp, item: T) {
        self.not_before = self.not_before.min(at);
        let bucket = at.as_micros().div_euclid(self.width);
        let near_bucket = *self.near_bucket.get_or_insert(bucket);
        if bucket <= near_bucket {
            self.near.push(Due { at, item });
        } else {
            self.far.entry(bucket).or_default().push(Due { at, item });
        }
    }

    /// Whether `pop_due` might give something: false, and nothing is due.
    #[inline]
    pub(crate) fn may_have_due(&self, watermark: Timestamp) -> bool {
        self.not_before <= watermark && !(self.near.is_empty() && self.far.is_empty())
    }

    /// Takes out one of the earliest items, if it is due at `watermark` or before.
    pub(crate) fn pop_due(&mut self, watermark: Timestamp) -> Option<(Timestamp, T)> {
        loop {
            if let Some(first) = self.near.peek() {
                if watermark < first.at {
                    self.not_before = first.at;
                    return None;
                }
                return self.near.pop().map(|due| (due.at, due.item));
            }
            let Some(next) = self.far.first_entry() else {
                self.not_before = Timestamp::MAX;
                return None;
            };
            if watermark.as_micros().div_euclid(self.width) < *next.key() {
                self.near = BinaryHeap::new();
                self.not_before = Timestamp::from_micros(next.key().saturating_mul(self.width));
                return None;
            }
            self.near_bucket = Some(*next.key());
            self.near = BinaryHeap::from(next.remove());
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
