//! Tables by slot.

use std::hash::BuildHasher as _;

use hashbrown::HashTable;

use super::{BuildHasher, Slot};

/// A value for each of some slots, in the order in which they came.
///
/// Values lie one behind the other. Where the value of a slot is, an array over all slots says; as long as the table holds
/// few of them, so that the array would be larger than the values, a hash table does.
#[derive(Debug)]
pub(crate) struct SlotMap<V> {
    places: Places,
    entries: Vec<(Slot, V)>,
}

#[derive(Debug)]
enum Places {
    /// Numbers of entries, found by the hash of their slots.
    Few(HashTable<u32>, BuildHasher),
    /// By slot: the number of its entry, from 1; 0 if it has none.
    Many(Vec<u32>),
}

impl<V> SlotMap<V> {
    /// From one entry in so many slots on, places are an array.
    const FEW: usize = 8;

    pub(crate) fn new() -> Self {
        SlotMap { places: Places::Few(HashTable::new(), BuildHasher::default()), entries: Vec::new() }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// In the order in which the slots came.
    pub(crate) fn slots(&self) -> impl ExactSizeIterator<Item = Slot> {
        self.entries.iter().map(|(slot, _)| *slot)
    }

    /// In the order in which the slots came.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (Slot, &V)> {
        self.entries.iter().map(|(slot, value)| (*slot, value))
    }

    pub(crate) fn get(&self, slot: Slot) -> Option<&V> {
        self.entries.get(self.place(slot)?).map(|(_, value)| value)
    }

    /// Where the value of a slot is, for [`at_mut`](Self::at_mut).
    #[inline]
    pub(crate) fn place(&self, slot: Slot) -> Option<usize> {
        match &self.places {
            Places::Many(places) => (*places.get(slot as usize)? as usize).checked_sub(1),
            Places::Few(places, hasher) => {
                let is_it = |&place: &u32| self.entries.get(place as usize).is_some_and(|(known, _)| *known == slot);
                places.find(hasher.hash_one(slot), is_it).map(|&place| place as usize)
            }
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut V> {
        let place = self.place(slot)?;
        self.at_mut(place)
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, place: usize) -> Option<&mut V> {
        self.entries.get_mut(place).map(|(_, value)| value)
    }

    /// Adds the value of a slot that has none. `slots` is the number of all slots.
    pub(crate) fn insert(&mut self, slot: Slot, value: V, slots: usize) -> Option<&mut V> {
        let place = self.entries.len() as u32;
        self.entries.push((slot, value));
        if let Places::Few(..) = self.places
            && slots <= self.entries.len() * Self::FEW
        {
            let mut places = vec![0; slots];
            for ((slot, _), number) in self.entries.iter().zip(1..) {
                set(&mut places, *slot, number);
            }
            self.places = Places::Many(places);
        } else {
            self.find_by(slot, place);
        }
        self.entries.last_mut().map(|(_, value)| value)
    }

    fn find_by(&mut self, slot: Slot, place: u32) {
        match &mut self.places {
            Places::Many(places) => set(places, slot, place + 1),
            Places::Few(places, hasher) => {
                let entries = &self.entries;
                places.insert_unique(hasher.hash_one(slot), place, |&place| {
                    entries.get(place as usize).map_or(0, |(slot, _)| hasher.hash_one(slot))
                });
            }
        }
    }

    /// Takes everything out, and keeps the room.
    pub(crate) fn clear(&mut self) {
        match &mut self.places {
            Places::Many(places) => places.fill(0),
            Places::Few(places, _) => places.clear(),
        }
        self.entries.clear();
    }
}

fn set(places: &mut Vec<u32>, slot: Slot, number: u32) {
    let at = slot as usize;
    if places.len() <= at {
        places.resize(at + 1, 0);
    }
    if let Some(place) = places.get_mut(at) {
        *place = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_few_and_in_many_places() {
        for slots in [64_u32, 1_000, 100_000] {
            let mut map = SlotMap::new();
            for round in 0..2 {
                let taken: Vec<Slot> = (0..500_u32.min(slots)).map(|n| n.wrapping_mul(7_919) % slots).collect();
                let mut expected: Vec<Slot> = Vec::new();
                for &slot in &taken {
                    assert_eq!(map.get(slot).is_some(), expected.contains(&slot));
                    if map.place(slot).is_none() {
                        assert_eq!(map.insert(slot, slot + round, slots as usize).copied(), Some(slot + round));
                        expected.push(slot);
                    }
                }
                assert_eq!(map.len(), expected.len());
                assert_eq!(map.slots().collect::<Vec<_>>(), expected);
                for slot in 0..slots {
                    let value = expected.contains(&slot).then_some(slot + round);
                    assert_eq!(map.get(slot).copied(), value, "{slot} of {slots}");
                    assert_eq!(map.get_mut(slot).copied(), value);
                }
                assert_eq!(map.get(slots), None);
                map.clear();
                assert_eq!((map.len(), map.get(taken[0])), (0, None));
            }
        }
    }

    #[test]
    fn places_are_an_array_once_an_entry_comes_to_eight_slots() {
        let mut map = SlotMap::new();
        for slot in 0..125 {
            assert!(matches!(map.places, Places::Few(..)), "{slot}");
            map.insert(slot, (), 1_000);
        }
        assert!(matches!(map.places, Places::Many(_)));
    }
}
