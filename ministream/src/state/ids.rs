//! Ids that are remembered for a time.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, Hash};
use std::mem;

use super::BuildHasher;
use crate::span::Span;
use crate::time::Timestamp;

/// The ids that are remembered: a log in order of arrival, and an index into it.
///
/// The log loses its due entries at the front. Arrival is nearly in order of time, so hardly ever does an entry that is due
/// wait behind one that is not; until it goes it counts as forgotten all the same. Should many wait (behind an event far
/// ahead of its watermark), the log is swept once it has doubled.
///
/// The index grows bit by bit: while it does there are two, and each id that comes moves a few of the older ones over.
#[derive(Debug)]
pub(crate) struct Ids<I> {
    ttl: Span,
    hasher: BuildHasher,
    index: Index,
    /// The index that `index` takes the place of, for entries from `moved` up to `split`.
    old: Option<Index>,
    moved: u64,
    split: u64,
    log: VecDeque<Remembered<I>>,
    /// The number of the log's first entry.
    first: u64,
    sweep_at: usize,
    /// What is due here or before is forgotten.
    watermark: Timestamp,
}

#[derive(Debug)]
struct Remembered<I> {
    id: I,
    forget_at: Timestamp,
}

impl<I> Ids<I> {
    const FIRST_SWEEP: usize = 1_024;
    /// So many entries go to the new index with each that is added: all of them before it is full.
    const MOVES: u64 = 4;

    pub(crate) fn new(ttl: Span) -> Self {
        Ids {
            ttl,
            hasher: BuildHasher::default(),
            index: Index::for_entries(0),
            old: None,
            moved: 0,
            split: 0,
            log: VecDeque::new(),
            first: 0,
            sweep_at: Self::FIRST_SWEEP,
            watermark: Timestamp::MIN,
        }
    }

    pub(crate) fn ttl(&self) -> Span {
        self.ttl
    }

    /// How many are remembered.
    pub(crate) fn len(&self) -> usize {
        self.log.iter().filter(|entry| self.watermark < entry.forget_at).count()
    }
}

impl<I: Eq + Hash> Ids<I> {
    /// The hash that the other methods want.
    #[inline]
    pub(crate) fn hash(&self, id: &I) -> u64 {
        self.hasher.hash_one(id)
    }

    /// Reads where an id with this hash would be found, so that it is near when it comes.
    #[inline]
    pub(crate) fn touch(&self, hash: u64) {
        self.index.touch(hash);
    }

    /// As [`touch`](Self::touch), for the ids that are forgotten next.
    #[inline]
    pub(crate) fn touch_oldest(&self, how_many: usize) {
        self.log.iter().take(how_many).for_each(|entry| self.index.touch(self.hasher.hash_one(&entry.id)));
    }

    /// Whether an id is remembered.
    #[inline]
    pub(crate) fn contains(&self, hash: u64, id: &I) -> bool {
        let is_it = |place| entry_of(&self.log, self.first, place).filter(|entry| entry.id == *id);
        let found = self.index.find(hash, is_it).or_else(|| self.old.as_ref()?.find(hash, is_it));
        found.is_some_and(|entry| self.watermark < entry.forget_at)
    }

    /// Remembers an id that is not remembered, from its event time on.
    #[inline]
    pub(crate) fn remember(&mut self, hash: u64, id: I, at: Timestamp) {
        let forget_at = at.plus(self.ttl);
        if forget_at <= self.watermark {
            return;
        }
        // An entry with this id that is due already, but waits in the log, gives its place in the index to the new one.
        let Ids { log, first, .. } = self;
        let is_it = |place| entry_of(log, *first, place).filter(|entry| entry.id == id).map(|_| place);
        if let Some(place) = self.index.find(hash, is_it) {
            self.index.remove(hash, place);
        } else if let Some(old) = &mut self.old
            && let Some(place) = old.find(hash, is_it)
        {
            old.remove(hash, place);
        }
        let number = self.first + self.log.len() as u64;
        self.log.push_back(Remembered { id, forget_at });
        if self.index.is_full() {
            self.grow(number);
        }
        self.index.insert(hash, place_of(number));
        if self.old.is_some() {
            self.move_over();
        }
    }

    /// Forgets what is due at this watermark.
    #[inline]
    pub(crate) fn forget_due(&mut self, watermark: Timestamp) {
        if watermark <= self.watermark {
            return;
        }
        self.watermark = watermark;
        if self.log.front().is_some_and(|front| front.forget_at <= watermark) {
            self.forget_front();
        }
        if self.sweep_at < self.log.len() {
            self.sweep();
        }
    }

    fn forget_front(&mut self) {
        while let Some(front) = self.log.pop_front_if(|front| front.forget_at <= self.watermark) {
            let number = self.first;
            let index = match &mut self.old {
                Some(old) if (self.moved..self.split).contains(&number) => old,
                _ => &mut self.index,
            };
            index.remove(self.hasher.hash_one(&front.id), place_of(number));
            self.first += 1;
        }
        if self.log.len() < self.log.capacity() / 8 {
            self.rebuild();
        }
    }

    /// Takes the due entries out of the middle of the log, too.
    #[cold]
    fn sweep(&mut self) {
        let watermark = self.watermark;
        let before = self.log.len();
        self.log.retain(|entry| watermark < entry.forget_at);
        if self.log.len() < before {
            self.rebuild();
        }
        self.sweep_at = Self::FIRST_SWEEP.max(2 * self.log.len());
    }

    /// Makes the index anew, and gives back the room that is not needed.
    #[cold]
    fn rebuild(&mut self) {
        self.log.shrink_to(2 * self.log.len());
        self.index = Index::for_entries(self.log.len());
        self.old = None;
        for (number, entry) in (self.first..).zip(&self.log) {
            // Of the copies of an id only the last one can be remembered still.
            let hash = self.hasher.hash_one(&entry.id);
            if self.watermark < entry.forget_at {
                self.index.insert(hash, place_of(number));
            }
        }
    }

    /// Begins a larger index. What is in the present one and not due goes over bit by bit.
    #[cold]
    fn grow(&mut self, split: u64) {
        // An index that fills up before the one before it is empty: only if what is remembered hardly goes.
        while self.old.is_some() {
            self.move_over();
        }
        self.old = Some(mem::replace(&mut self.index, Index::for_entries(2 * self.log.len())));
        self.moved = self.first;
        self.split = split;
    }

    fn move_over(&mut self) {
        let Some(old) = &mut self.old else { return };
        self.moved = self.moved.max(self.first);
        let end = self.split.min(self.moved + Self::MOVES);
        while self.moved < end {
            let place = place_of(self.moved);
            if let Some(entry) = entry_of(&self.log, self.first, place) {
                let hash = self.hasher.hash_one(&entry.id);
                if old.remove(hash, place) {
                    self.index.insert(hash, place);
                }
            }
            self.moved += 1;
        }
        if self.split <= self.moved {
            self.old = None;
        }
    }
}

/// The number of an entry as the index keeps it: there are never as many as that wraps.
fn place_of(number: u64) -> u32 {
    number as u32
}

#[inline]
fn entry_of<I>(log: &VecDeque<Remembered<I>>, first: u64, place: u32) -> Option<&Remembered<I>> {
    log.get(place.wrapping_sub(place_of(first)) as usize)
}

/// Places found by hashes: a row of buckets, one line of memory each.
///
/// What has no room in the bucket of its hash goes to the next, and is counted where it was turned away. So a look ends
/// with the first bucket that has turned nobody away, mostly at once, and removing leaves no trace.
#[derive(Debug)]
struct Index {
    /// A power of two.
    buckets: Vec<Bucket>,
    entries: usize,
}

#[derive(Clone, Debug)]
#[repr(align(64))]
struct Bucket {
    /// Bits of the hashes, never 0; 0 where there is no entry.
    tags: [u32; Bucket::ROOM],
    places: [u32; Bucket::ROOM],
    /// How many of the entries that passed by are in later buckets.
    turned_away: u32,
}

impl Bucket {
    const ROOM: usize = 7;
    const EMPTY: Bucket = Bucket { tags: [0; Bucket::ROOM], places: [0; Bucket::ROOM], turned_away: 0 };
}

fn tag_of(hash: u64) -> u32 {
    (hash >> 32) as u32 | 1
}

impl Index {
    /// So many entries a bucket on average, when it is full.
    const LOAD: usize = 5;

    /// An index that is not full with so many entries.
    fn for_entries(entries: usize) -> Self {
        let buckets = (entries / Self::LOAD + 1).next_power_of_two();
        Index { buckets: vec![Bucket::EMPTY; buckets], entries: 0 }
    }

    fn is_full(&self) -> bool {
        self.buckets.len() * Self::LOAD <= self.entries
    }

    /// The buckets in which an entry with this hash may be, nearest first.
    #[inline]
    fn ways(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.buckets.len() - 1;
        let home = hash as usize;
        (0..self.buckets.len()).map(move |step| home.wrapping_add(step) & mask)
    }

    #[inline]
    fn touch(&self, hash: u64) {
        let home = self.buckets.get(hash as usize & (self.buckets.len() - 1));
        std::hint::black_box(home.map_or(0, |bucket| bucket.turned_away));
    }

    /// What `is_it` makes of the place that it knows.
    #[inline]
    fn find<R>(&self, hash: u64, is_it: impl Fn(u32) -> Option<R>) -> Option<R> {
        let tag = tag_of(hash);
        for at in self.ways(hash) {
            let bucket = self.buckets.get(at)?;
            for (known, place) in bucket.tags.iter().zip(&bucket.places) {
                if *known == tag
                    && let Some(found) = is_it(*place)
                {
                    return Some(found);
                }
            }
            if bucket.turned_away == 0 {
                return None;
            }
        }
        None
    }

    #[inline]
    fn insert(&mut self, hash: u64, place: u32) {
        for at in self.ways(hash) {
            let Some(bucket) = self.buckets.get_mut(at) else { return };
            let mut rooms = bucket.tags.iter_mut().zip(&mut bucket.places);
            if let Some((tag, room)) = rooms.find(|(tag, _)| **tag == 0) {
                (*tag, *room) = (tag_of(hash), place);
                self.entries += 1;
                return;
            }
            bucket.turned_away += 1;
        }
    }

    /// Whether it was there.
    #[inline]
    fn remove(&mut self, hash: u64, place: u32) -> bool {
        let tag = tag_of(hash);
        for at in self.ways(hash) {
            let Some(bucket) = self.buckets.get_mut(at) else { return false };
            let mut rooms = bucket.tags.iter_mut().zip(&bucket.places);
            if let Some((known, _)) = rooms.find(|(known, known_place)| **known == tag && **known_place == place) {
                *known = 0;
                self.entries -= 1;
                // Those before it have turned it away.
                for before in self.ways(hash).take_while(|before| *before != at) {
                    if let Some(bucket) = self.buckets.get_mut(before) {
                        bucket.turned_away -= 1;
                    }
                }
                return true;
            }
            if bucket.turned_away == 0 {
                return false;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Colliding(u32);

    impl Hash for Colliding {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            state.write_u8(7);
        }
    }

    fn ts(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    /// Random ids, times and watermarks against a list of all copies that were remembered.
    fn agrees_with_a_list<I: Eq + Hash + Copy>(id_of: impl Fn(u32) -> I, ids: u32, steps: i64, first: u64, ahead: i64) {
        const TTL: i64 = 500;
        let mut table = Ids::new(Span::from_micros(TTL));
        table.first = first;
        let mut model: Vec<(u32, i64)> = Vec::new();
        let (mut seed, mut watermark) = (1_u64, i64::MIN);
        let mut random = |below: i64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i64::try_from(seed >> 33).unwrap() % below
        };
        for step in 0..steps {
            let (number, at) = (u32::try_from(random(ids.into())).unwrap(), step + random(40));
            let at = if random(100) == 0 { at + ahead } else { at };
            if random(3) == 0 {
                watermark = watermark.max(step - 10);
                table.forget_due(ts(watermark));
                model.retain(|(_, forget_at)| watermark < *forget_at);
            }
            let id = id_of(number);
            let hash = table.hash(&id);
            table.touch(hash);
            let expected = model.iter().any(|(known, _)| *known == number);
            assert_eq!(table.contains(hash, &id), expected, "step {step}");
            if !expected {
                table.remember(hash, id, ts(at));
                model.push((number, at + TTL));
                model.retain(|(_, forget_at)| watermark < *forget_at);
            }
            if step % 64 == 0 {
                assert_eq!(table.len(), model.len(), "step {step}");
            }
        }
        table.forget_due(ts(i64::MAX));
        assert_eq!((table.len(), table.log.len(), table.index.entries), (0, 0, 0));
        assert!(table.index.buckets.iter().all(|bucket| bucket.turned_away == 0));
    }

    #[test]
    fn agrees_with_a_list_of_what_was_remembered() {
        agrees_with_a_list(u64::from, 2_000, 20_000, 0, 0);
        agrees_with_a_list(u64::from, 300, 5_000, u64::from(u32::MAX) - 700, 0);
    }

    #[test]
    fn entries_that_wait_behind_later_ones_are_forgotten_all_the_same() {
        agrees_with_a_list(u64::from, 2_000, 20_000, 0, 10_000);
        agrees_with_a_list(u64::from, 100, 5_000, 0, 1_000);
    }

    #[test]
    fn ids_whose_hashes_collide_are_told_apart() {
        agrees_with_a_list(Colliding, 400, 4_000, 0, 700);
    }

    #[test]
    fn a_bucket_is_a_line_of_memory() {
        assert_eq!((size_of::<Bucket>(), align_of::<Bucket>()), (64, 64));
    }

    #[test]
    fn memory_goes_back() {
        let mut table = Ids::new(Span::from_micros(10));
        for id in 0..100_000_u64 {
            table.remember(table.hash(&id), id, ts(0));
        }
        table.forget_due(ts(10));
        assert_eq!(table.index.buckets.len(), 1);
        assert!(table.log.capacity() < 64);
    }
}
