//! Sliding windows by slices: an event is added once, whatever the number of windows it is in.
//!
//! Windows are made of slices, the spans between two neighbouring bounds of windows: the paired windows of Krishnamurthy,
//! Wu and Franklin (On-the-Fly Sharing for Streamed Aggregation, 2006). What a window holds is kept from one firing to the
//! next: the slices that enter are merged into it, those that leave are taken out. So the aggregate has to be one from
//! which parts can be taken out.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::RangeInclusive;

use super::aligned::Grid;
use crate::aggregate::Aggregate;
use crate::event::{Data, Key};
use crate::pane::{Replaced, Timing};
use crate::span::Span;
use crate::state::{Keys, Map, Slot, SlotMap};
use crate::time::Timestamp;
use crate::window::Window;
use crate::window::sealed::{Firing, HandOut, Parts, Placed, Settings, WindowStore};

/// The sliding windows of all keys.
#[derive(Debug)]
pub struct SliceStore<K, Acc> {
    grid: Grid,
    /// The timestamps all of whose windows fit in 64 bits.
    admits: RangeInclusive<Timestamp>,
    lateness: Span,
    keys: Keys<K>,
    /// In order of time; only those that have events. They stay as long as one of their windows lives.
    slices: VecDeque<Slice<Acc>>,
    /// The room of a slice that has gone, for the next one.
    spare: Option<SlotMap<Acc>>,
    rolling: Rolling<Acc>,
    watermark: Timestamp,
    /// The end of the next window to fire.
    next_end: Option<Timestamp>,
    /// Nothing fires or goes before the watermark gets here.
    next_change: Timestamp,
    /// Windows that have fired and live on, by their ends: only where there is lateness.
    fired: VecDeque<Fired>,
    /// The key and the time of an event that was added to windows that have fired.
    corrected: Option<(Slot, Timestamp)>,
}

/// What came in a span of time that is in or out of each window as a whole.
#[derive(Debug)]
struct Slice<Acc> {
    span: Window,
    /// The ends of its first and its last window.
    first_end: Timestamp,
    last_end: Timestamp,
    cells: SlotMap<Acc>,
}

/// Which keys a window has given results for.
#[derive(Debug)]
struct Fired {
    end: Timestamp,
    on_time: SlotSet,
    /// How many results came after that.
    corrections: Map<Slot, u32>,
}

impl Fired {
    fn results(&self, slot: Slot) -> u32 {
        let corrections = self.corrections.get(&slot).copied().unwrap_or_default();
        corrections.saturating_add(u32::from(self.on_time.contains(slot)))
    }
}

/// A set of slots that is filled once.
#[derive(Debug)]
enum SlotSet {
    /// In order.
    Few(Vec<Slot>),
    /// One bit a slot.
    Many(Vec<u64>),
}

impl SlotSet {
    const BITS: u32 = u64::BITS;

    fn new(mut slots: Vec<Slot>) -> Self {
        let last = slots.iter().max().copied().unwrap_or_default();
        if (last / Slot::BITS) as usize > slots.len() {
            slots.sort_unstable();
            slots.shrink_to_fit();
            return SlotSet::Few(slots);
        }
        let mut words = vec![0; (last / Self::BITS) as usize + 1];
        for slot in slots {
            if let Some(word) = words.get_mut((slot / Self::BITS) as usize) {
                *word |= 1 << (slot % Self::BITS);
            }
        }
        SlotSet::Many(words)
    }

    fn contains(&self, slot: Slot) -> bool {
        match self {
            SlotSet::Few(slots) => slots.binary_search(&slot).is_ok(),
            SlotSet::Many(words) => {
                words.get((slot / Self::BITS) as usize).is_some_and(|word| word >> (slot % Self::BITS) & 1 == 1)
            }
        }
    }
}

/// What the slices of a span hold together: those of the last window that fired.
#[derive(Debug)]
struct Rolling<Acc> {
    /// Slices that start in here are in it.
    span: Window,
    /// By slot.
    totals: Vec<Option<Total<Acc>>>,
    /// The slots that have one, in no order.
    present: Vec<Slot>,
}

#[derive(Debug)]
struct Total<Acc> {
    acc: Acc,
    /// How many slices have the key, less one.
    more_slices: u32,
}

impl<Acc: Data> Rolling<Acc> {
    fn new() -> Self {
        let nothing = Window::new(Timestamp::MIN, Timestamp::MIN);
        Rolling { span: nothing, totals: Vec::new(), present: Vec::new() }
    }

    #[inline]
    fn get(&self, slot: Slot) -> Option<&Acc> {
        self.totals.get(slot as usize)?.as_ref().map(|total| &total.acc)
    }

    #[inline]
    fn holds(&self, slice: Window) -> bool {
        self.span.start <= slice.start && slice.start < self.span.end
    }

    fn enter(&mut self, cells: &SlotMap<Acc>, parts: &impl Parts<Acc>) {
        for (slot, acc) in cells.iter() {
            self.add(slot, true, || acc.clone(), |total| parts.merge(total, acc.clone()));
        }
    }

    /// Something more of a key: what it is, or how it is added if something of the key is there already.
    #[inline]
    fn add(&mut self, slot: Slot, new_in_slice: bool, first: impl FnOnce() -> Acc, add: impl FnOnce(&mut Acc)) {
        let at = slot as usize;
        if self.totals.len() <= at {
            self.totals.resize_with(at + 1, || None);
        }
        match self.totals.get_mut(at) {
            Some(Some(total)) => {
                add(&mut total.acc);
                total.more_slices += u32::from(new_in_slice);
            }
            Some(nothing) => {
                *nothing = Some(Total { acc: first(), more_slices: 0 });
                self.present.push(slot);
            }
            None => {}
        }
    }

    fn leave<'a>(&mut self, slices: impl Iterator<Item = &'a SlotMap<Acc>>, parts: &impl Parts<Acc>)
    where
        Acc: 'a,
    {
        for (slot, acc) in slices.flat_map(SlotMap::iter) {
            let Some(place) = self.totals.get_mut(slot as usize) else { continue };
            match place {
                Some(total) if total.more_slices > 0 => {
                    parts.unmerge(&mut total.acc, acc);
                    total.more_slices -= 1;
                }
                _ => *place = None,
            }
        }
        let Rolling { totals, present, .. } = self;
        present.retain(|&slot| totals.get(slot as usize).is_some_and(Option::is_some));
        let used = present.iter().max().map_or(0, |&last| last as usize + 1);
        if used < totals.capacity() / 8 {
            totals.truncate(used);
            totals.shrink_to(used * 2);
            present.shrink_to(present.len() * 2);
        }
    }
}

impl<K: Key, Acc: Data> SliceStore<K, Acc> {
    pub(super) fn new(grid: Grid, settings: &Settings) -> Self {
        SliceStore {
            admits: grid.admits(&(Timestamp::MIN..=Timestamp::MAX)),
            grid,
            lateness: settings.lateness(),
            keys: Keys::new(),
            slices: VecDeque::new(),
            spare: None,
            rolling: Rolling::new(),
            watermark: Timestamp::MIN,
            next_end: None,
            next_change: Timestamp::MAX,
            fired: VecDeque::new(),
            corrected: None,
        }
    }

    /// Where the slice of an instant is, or belongs.
    #[inline]
    fn position(&self, at: Timestamp) -> Result<usize, usize> {
        let len = self.slices.len();
        // Most events belong to one of the last two.
        for near in [len.wrapping_sub(1), len.wrapping_sub(2)] {
            match self.slices.get(near) {
                Some(slice) if at < slice.span.start => {}
                Some(slice) if at < slice.span.end => return Ok(near),
                _ => return Err(near.wrapping_add(1)),
            }
        }
        let behind = self.slices.partition_point(|slice| slice.span.end <= at);
        match self.slices.get(behind) {
            Some(slice) if slice.span.start <= at => Ok(behind),
            _ => Err(behind),
        }
    }

    /// The slice of an instant that has none, if one of its windows lives.
    #[cold]
    fn open(&mut self, position: usize, at: Timestamp, watermark: Timestamp) -> Result<usize, Placed> {
        if !self.admits.contains(&at) {
            return Err(Placed::OutOfRange);
        }
        let Some((span, first_end, last_end)) = self.grid.slice_of(at) else { return Err(Placed::OutOfRange) };
        if last_end.plus(self.lateness) <= watermark {
            return Err(Placed::Late);
        }
        let cells = self.spare.take().unwrap_or_else(SlotMap::new);
        self.slices.insert(position, Slice { span, first_end, last_end, cells });
        // The first of its windows that has not fired, if there is one.
        let next_end = self
            .grid
            .end_at_or_before(watermark, last_end)
            .map_or(first_end, |end| if end < first_end { first_end } else { end.plus(self.grid.every()) });
        if next_end <= last_end {
            self.next_end = Some(self.next_end.map_or(next_end, |known| known.min(next_end)));
            self.next_change = self.next_change.min(next_end);
        }
        self.next_change = self.next_change.min(last_end.plus(self.lateness));
        Ok(position)
    }

    /// Hands out the window that ends here.
    fn fire_window(&mut self, end: Timestamp, parts: &impl Parts<Acc>, emit: &mut impl HandOut<K, Acc>) {
        let window = Window::new(end.minus(self.grid.size()), end);
        self.roll_to(window, parts);
        // Where most keys are in the window, the order of all keys is near enough.
        let slots = if self.keys.slots() < self.rolling.present.len() * 4 {
            self.keys.ordered().to_vec()
        } else {
            let mut slots = self.rolling.present.clone();
            self.keys.sort(&mut slots);
            slots
        };
        let lives_on = !self.lateness.is_zero();
        let mut on_time = Vec::new();
        for slot in slots {
            let (Some(acc), Some(key)) = (self.rolling.get(slot), self.keys.key(slot)) else { continue };
            let firing = Firing { key, window, acc, timing: Timing::OnTime, update: 0, replaces: Replaced::default() };
            if emit.take(firing) && lives_on {
                on_time.push(slot);
            }
        }
        if lives_on {
            self.fired.push_back(Fired { end, on_time: SlotSet::new(on_time), corrections: Map::default() });
        }
    }

    /// Takes slices in and out, so that those of this window are in.
    fn roll_to(&mut self, window: Window, parts: &impl Parts<Acc>) {
        let SliceStore { slices, rolling, .. } = self;
        let before = rolling.span;
        let behind = |instant: Timestamp| slices.partition_point(|slice| slice.span.start < instant);
        let first = behind(before.start);
        let leaving = slices.range(first..behind(before.end.min(window.start)).max(first));
        rolling.leave(leaving.map(|slice| &slice.cells), parts);
        let first = behind(before.end.max(window.start));
        for slice in slices.range(first..behind(window.end).max(first)) {
            rolling.enter(&slice.cells, parts);
        }
        rolling.span = window;
    }

    /// The end of the first window behind this end that has events.
    fn end_behind(&self, end: Timestamp) -> Option<Timestamp> {
        let next = end.as_micros().checked_add(self.grid.every().as_micros()).map(Timestamp::from_micros)?;
        let first = self.slices.partition_point(|slice| slice.span.start < next.minus(self.grid.size()));
        let slice = self.slices.get(first)?;
        Some(if slice.span.start < next { next } else { slice.first_end })
    }

    /// Hands out the windows of this key that hold `at`, have fired and live.
    fn fire_corrected(
        &mut self,
        slot: Slot,
        at: Timestamp,
        watermark: Timestamp,
        parts: &impl Parts<Acc>,
        emit: &mut impl HandOut<K, Acc>,
    ) {
        let Some((_, first_end, last_end)) = self.grid.slice_of(at) else { return };
        let Some(last) = self.grid.end_at_or_before(watermark, last_end) else { return };
        let Some(key) = self.keys.key(slot) else { return };
        let every = self.grid.every();
        let mut ends = Vec::new();
        let mut end = last;
        while first_end <= end && watermark < end.plus(self.lateness) {
            ends.push(end);
            end = end.minus(every);
        }
        // What the key has in one window after the other, from the first slice of the first of them on.
        let first_start = ends.last().map_or(Timestamp::MAX, |end| end.minus(self.grid.size()));
        let mut entering = self.slices.partition_point(|slice| slice.span.start < first_start);
        let mut leaving = entering;
        let mut total: Option<Total<Acc>> = None;
        for end in ends.into_iter().rev() {
            let window = Window::new(end.minus(self.grid.size()), end);
            while let Some(slice) = self.slices.get(entering).filter(|slice| slice.span.start < end) {
                if let Some(acc) = slice.cells.get(slot) {
                    match &mut total {
                        Some(total) => {
                            parts.merge(&mut total.acc, acc.clone());
                            total.more_slices += 1;
                        }
                        None => total = Some(Total { acc: acc.clone(), more_slices: 0 }),
                    }
                }
                entering += 1;
            }
            while let Some(slice) = self.slices.get(leaving).filter(|slice| slice.span.start < window.start) {
                if let (Some(acc), Some(left)) = (slice.cells.get(slot), &mut total) {
                    if left.more_slices == 0 {
                        total = None;
                    } else {
                        parts.unmerge(&mut left.acc, acc);
                        left.more_slices -= 1;
                    }
                }
                leaving += 1;
            }
            let Some(Total { acc, .. }) = &total else { continue };
            let place = self.fired.binary_search_by_key(&end, |fired| fired.end).unwrap_or_else(|place| {
                let fired = Fired { end, on_time: SlotSet::new(Vec::new()), corrections: Map::default() };
                self.fired.insert(place, fired);
                place
            });
            let Some(fired) = self.fired.get_mut(place) else { continue };
            let update = fired.results(slot);
            if emit.take(Firing { key, window, acc, timing: Timing::Late, update, replaces: Replaced::default() }) {
                let corrections = fired.corrections.entry(slot).or_default();
                *corrections = corrections.saturating_add(1);
            }
        }
    }

    /// Forgets slices none of whose windows lives.
    fn forget(&mut self, watermark: Timestamp, parts: &impl Parts<Acc>) {
        let lateness = self.lateness;
        let is_gone = |end: Timestamp| end.plus(lateness) <= watermark;
        while let Some(slice) = self.slices.pop_front_if(|slice| is_gone(slice.last_end)) {
            if self.rolling.holds(slice.span) {
                self.rolling.leave(std::iter::once(&slice.cells), parts);
            }
            for slot in slice.cells.slots() {
                self.keys.release(slot);
            }
            if self.spare.is_none() {
                let mut cells = slice.cells;
                cells.clear();
                self.spare = Some(cells);
            }
        }
        while self.fired.pop_front_if(|fired| is_gone(fired.end)).is_some() {}
    }
}

impl<K: Key, Acc: Data> WindowStore<K, Acc> for SliceStore<K, Acc> {
    #[inline]
    fn add<T, A>(&mut self, key: Cow<'_, K>, at: Timestamp, event: &T, aggregate: &A, watermark: Timestamp) -> Placed
    where
        A: Aggregate<T, Acc = Acc>,
    {
        let position = match self.position(at) {
            Ok(position) => position,
            Err(position) => match self.open(position, at, watermark) {
                Ok(position) => position,
                Err(placed) => return placed,
            },
        };
        let Some(slot) = self.keys.slot_of(key) else { return Placed::TooManyKeys };
        let Some(Slice { span, first_end, last_end, cells }) = self.slices.get_mut(position) else {
            return Placed::Late;
        };
        let create = || {
            let mut acc = aggregate.create();
            aggregate.add(&mut acc, at, event);
            acc
        };
        let new_in_slice = match cells.place(slot).and_then(|place| cells.at_mut(place)) {
            Some(acc) => {
                aggregate.add(acc, at, event);
                false
            }
            None => {
                self.keys.take(slot);
                cells.insert(slot, create(), self.keys.slots());
                true
            }
        };
        if self.rolling.holds(*span) {
            self.rolling.add(slot, new_in_slice, create, |acc| aggregate.add(acc, at, event));
        }
        let mut due = false;
        if *first_end <= watermark {
            let fired = self.grid.end_at_or_before(watermark, *last_end);
            due = fired.is_some_and(|end| *first_end <= end && watermark < end.plus(self.lateness));
            if due {
                self.corrected = Some((slot, at));
            }
        }
        Placed::Taken { partly_late: first_end.plus(self.lateness) <= watermark, due }
    }

    #[inline]
    fn upcoming<'a>(&mut self, keys: impl Iterator<Item = &'a K>)
    where
        K: 'a,
    {
        self.keys.expect(keys);
    }

    #[inline]
    fn moves(&mut self, watermark: Timestamp) -> bool {
        self.watermark = watermark;
        self.next_change <= watermark || self.corrected.is_some()
    }

    fn fire(&mut self, watermark: Timestamp, parts: &impl Parts<Acc>, emit: &mut impl HandOut<K, Acc>) {
        self.watermark = watermark;
        if let Some((slot, at)) = self.corrected.take() {
            self.fire_corrected(slot, at, watermark, parts, emit);
        }
        while let Some(end) = self.next_end.filter(|end| *end <= watermark) {
            self.fire_window(end, parts, emit);
            self.next_end = self.end_behind(end);
        }
        self.forget(watermark, parts);
        let next_to_go = self.slices.front().map(|slice| slice.last_end.plus(self.lateness));
        self.next_change = self.next_end.into_iter().chain(next_to_go).min().unwrap_or(Timestamp::MAX);
    }

    /// Early results are not for this store.
    fn fire_early(&mut self, _emit: &mut impl HandOut<K, Acc>) {}

    fn open_windows(&self) -> usize {
        // How many windows of each slice live; a key that is in a slice before is in those of them already that hold both.
        let every = self.grid.every().as_micros().max(1);
        let mut last_of_key: Map<Slot, Timestamp> = Map::default();
        let mut open = 0;
        for slice in &self.slices {
            let gone_to = self.grid.end_at_or_before(self.watermark.minus(self.lateness), slice.last_end);
            for slot in slice.cells.slots() {
                let counted_to = last_of_key.insert(slot, slice.last_end).unwrap_or(Timestamp::MIN);
                let behind = counted_to.max(gone_to.unwrap_or(Timestamp::MIN));
                let from = if behind < slice.first_end { slice.first_end.minus(self.grid.every()) } else { behind };
                open += slice.last_end.as_micros().saturating_sub(from.as_micros()) / every;
            }
        }
        usize::try_from(open).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_slots_holds_what_was_put_in() {
        for slots in [vec![], vec![0], vec![63, 64, 65], vec![1_000_000, 3], (0..500).rev().collect()] {
            let set = SlotSet::new(slots.clone());
            for slot in (0..600).chain([999_999, 1_000_000, Slot::MAX]) {
                assert_eq!(set.contains(slot), slots.contains(&slot), "{slot} in {slots:?}");
            }
        }
    }
}
