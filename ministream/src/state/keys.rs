//! The keys of an operator as small numbers, so that tables by key are arrays.

use std::borrow::Cow;
use std::hash::BuildHasher as _;
use std::mem;

use hashbrown::HashTable;

use super::BuildHasher;
use crate::event::Key;

/// The number of a key, for as long as something is kept of it.
pub(crate) type Slot = u32;

/// Gives each key a number when it first comes.
///
/// A key is hashed and compared once an event; what is kept of it lies in tables by its number. One that nothing is kept
/// of any more is idle: it keeps its number, for it may come again soon, until the idle ones are
/// twice as many as the others.
#[derive(Debug)]
pub(crate) struct Keys<K> {
    hasher: BuildHasher,
    index: HashTable<Slot>,
    /// By slot; None where the number is free.
    keys: Vec<Option<K>>,
    /// By slot: how many things are kept of the key.
    uses: Vec<u32>,
    free: Vec<Slot>,
    /// Slots in order of their keys, and those that have come since.
    ordered: Vec<Slot>,
    unordered: Vec<Slot>,
    idle: usize,
    /// Slots of the keys that come next, as far as they were known; `Slot::MAX` where one was not.
    expected: Vec<Slot>,
    /// The first of them that has not come.
    next_expected: usize,
}

impl<K: Key> Keys<K> {
    const MIN_IDLE: usize = 1_024;

    pub(crate) fn new() -> Self {
        Keys {
            hasher: BuildHasher::default(),
            index: HashTable::new(),
            keys: Vec::new(),
            uses: Vec::new(),
            free: Vec::new(),
            ordered: Vec::new(),
            unordered: Vec::new(),
            idle: 0,
            expected: Vec::new(),
            next_expected: 0,
        }
    }

    /// How many numbers there are: each slot is below.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        self.keys.len()
    }

    #[inline]
    pub(crate) fn key(&self, slot: Slot) -> Option<&K> {
        self.keys.get(slot as usize)?.as_ref()
    }

    /// The number of a key, which is cloned only if it is new; None if there are no numbers left.
    #[inline]
    pub(crate) fn slot_of(&mut self, key: Cow<'_, K>) -> Option<Slot> {
        match self.known(&key) {
            Some(slot) => Some(slot),
            None => self.add(key.into_owned()),
        }
    }

    /// The number of a key, if it has one.
    #[inline]
    pub(crate) fn known(&mut self, key: &K) -> Option<Slot> {
        self.as_expected(key).or_else(|| self.find(key))
    }

    /// These keys come next: looks them up together, so that one does not wait for the memory of the other. Some may stay
    /// away, and others come between.
    pub(crate) fn expect<'a>(&mut self, keys: impl Iterator<Item = &'a K>)
    where
        K: 'a,
    {
        let mut expected = mem::take(&mut self.expected);
        expected.clear();
        expected.extend(keys.map(|key| self.find(key).unwrap_or(Slot::MAX)));
        (self.expected, self.next_expected) = (expected, 0);
    }

    /// The number of a key that comes as expected, or after one that stayed away.
    #[inline]
    fn as_expected(&mut self, key: &K) -> Option<Slot> {
        let next = self.next_expected;
        let slot = *self.expected.get(next)?;
        self.next_expected += 1;
        if self.key(slot) == Some(key) {
            return Some(slot);
        }
        let slot = *self.expected.get(next + 1)?;
        if self.key(slot) == Some(key) {
            self.next_expected += 1;
            return Some(slot);
        }
        None
    }

    #[inline]
    fn find(&self, key: &K) -> Option<Slot> {
        let hash = self.hasher.hash_one(key);
        self.index.find(hash, |&slot| self.key(slot) == Some(key)).copied()
    }

    /// Gives a number to a key that has none; None if there are none left.
    pub(crate) fn add(&mut self, key: K) -> Option<Slot> {
        let hash = self.hasher.hash_one(&key);
        if self.idle > Self::MIN_IDLE.max(2 * (self.index.len() - self.idle)) {
            self.forget_idle();
        }
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = Slot::try_from(self.keys.len()).ok().filter(|slot| *slot < Slot::MAX)?;
                self.keys.push(None);
                self.uses.push(0);
                slot
            }
        };
        *self.keys.get_mut(slot as usize)? = Some(key);
        let Keys { hasher, index, keys, .. } = self;
        index.insert_unique(hash, slot, |&slot| {
            keys.get(slot as usize).and_then(Option::as_ref).map_or(0, |key| hasher.hash_one(key))
        });
        self.unordered.push(slot);
        self.idle += 1;
        Some(slot)
    }

    /// Something more is kept of the key.
    #[inline]
    pub(crate) fn take(&mut self, slot: Slot) {
        if let Some(uses) = self.uses.get_mut(slot as usize) {
            self.idle -= usize::from(*uses == 0);
            *uses += 1;
        }
    }

    /// Something that was kept of the key is let go.
    #[inline]
    pub(crate) fn release(&mut self, slot: Slot) {
        if let Some(uses) = self.uses.get_mut(slot as usize) {
            *uses -= 1;
            self.idle += usize::from(*uses == 0);
        }
    }

    #[cold]
    fn forget_idle(&mut self) {
        let Keys { hasher, index, keys, uses, free, .. } = self;
        for (number, (place, _)) in keys.iter_mut().zip(uses.iter()).enumerate().filter(|(_, (_, uses))| **uses == 0) {
            let Some(key) = place.take() else { continue };
            let slot = number as Slot;
            if let Ok(entry) = index.find_entry(hasher.hash_one(&key), |&known| known == slot) {
                entry.remove();
            }
            free.push(slot);
        }
        // The smallest numbers are given again first, so that tables by slot stay short.
        free.sort_unstable_by(|a, b| b.cmp(a));
        let is_known = |slot: &Slot| keys.get(*slot as usize).is_some_and(Option::is_some);
        self.ordered.retain(is_known);
        self.unordered.retain(is_known);
        self.idle = 0;
        self.give_back();
    }

    /// Gives memory back once there are far fewer keys than there is room for.
    fn give_back(&mut self) {
        let Keys { hasher, index, keys, .. } = self;
        if index.len() < index.capacity() / 8 {
            index.shrink_to(index.len() * 2, |&slot| {
                keys.get(slot as usize).and_then(Option::as_ref).map_or(0, |key| hasher.hash_one(key))
            });
        }
        let used = self.keys.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        if used < self.keys.capacity() / 8 {
            self.keys.truncate(used);
            self.keys.shrink_to(used * 2);
            self.uses.truncate(used);
            self.uses.shrink_to(used * 2);
            self.free.retain(|&slot| (slot as usize) < used);
            self.free.shrink_to_fit();
            self.ordered.shrink_to(used * 2);
            self.unordered.shrink_to_fit();
        }
    }

    /// All slots in the order of their keys, idle ones among them.
    pub(crate) fn ordered(&mut self) -> &[Slot] {
        if !self.unordered.is_empty() {
            let mut new = mem::take(&mut self.unordered);
            self.sort(&mut new);
            let old = mem::take(&mut self.ordered);
            self.ordered.reserve(old.len() + new.len());
            let mut old = old.into_iter().peekable();
            for slot in new {
                while let Some(before) = old.next_if(|&before| self.key(before) < self.key(slot)) {
                    self.ordered.push(before);
                }
                self.ordered.push(slot);
            }
            self.ordered.extend(old);
        }
        &self.ordered
    }

    /// Puts slots in the order of their keys.
    pub(crate) fn sort(&self, slots: &mut [Slot]) {
        if mem::needs_drop::<K>() {
            slots.sort_unstable_by(|&a, &b| self.key(a).cmp(&self.key(b)));
            return;
        }
        // Plain data is sorted where it lies, not through the slots.
        let mut keyed: Vec<_> = slots.iter().map(|&slot| (self.key(slot).cloned(), slot)).collect();
        keyed.sort_unstable();
        for (place, (_, slot)) in slots.iter_mut().zip(keyed) {
            *place = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn agrees_with_a_map_of_keys() {
        let mut keys = Keys::<u64>::new();
        let mut model: BTreeMap<u64, (Slot, u32)> = BTreeMap::new();
        let mut seed = 5_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut coming: Vec<u64> = Vec::new();
        for step in 0..60_000_u64 {
            if coming.is_empty() {
                // Keys drift, so that idle ones are forgotten; what was expected does not all come.
                coming = (0..20).map(|_| step / 8 + random(3_000)).collect();
                keys.expect(coming.iter().filter(|key| !key.is_multiple_of(7)));
                coming.retain(|key| !key.is_multiple_of(5));
            }
            if let Some(key) = (!coming.is_empty()).then(|| coming.remove(0)) {
                let slot = keys.slot_of(Cow::Owned(key)).unwrap();
                assert_eq!(keys.key(slot), Some(&key));
                match model.get_mut(&key) {
                    Some((known, uses)) if *uses > 0 => {
                        assert_eq!(slot, *known, "a key that is in use keeps its number");
                        *uses += 1;
                    }
                    _ => {
                        model.insert(key, (slot, 1));
                    }
                }
                keys.take(slot);
            }
            while model.len() > 2_000 {
                let (&key, &(slot, uses)) = model.iter().nth(random(2_000) as usize).unwrap();
                (0..uses).for_each(|_| keys.release(slot));
                model.remove(&key);
            }
            if step % 5_000 == 0 {
                let ordered: Vec<_> = keys.ordered().to_vec();
                let ordered: Vec<_> = ordered.into_iter().map(|slot| *keys.key(slot).unwrap()).collect();
                assert!(ordered.is_sorted(), "step {step}");
                assert!(model.keys().all(|key| ordered.binary_search(key).is_ok()), "step {step}");
                assert!(ordered.len() <= 3 * model.len() + Keys::<u64>::MIN_IDLE + 1, "step {step}");
            }
        }
    }

    #[test]
    fn idle_keys_are_forgotten_and_their_memory_goes_back() {
        let mut keys = Keys::<String>::new();
        for number in 0..50_000 {
            let slot = keys.slot_of(Cow::Owned(format!("key {number}"))).unwrap();
            keys.take(slot);
            keys.release(slot);
        }
        assert!(keys.index.len() <= Keys::<String>::MIN_IDLE + 2, "{} keys", keys.index.len());
        assert!(keys.slots() <= Keys::<String>::MIN_IDLE + 2, "{} numbers", keys.slots());
    }
}
