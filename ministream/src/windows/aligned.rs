//! Windows that lie on a grid of event time, whatever the events: what tumbling and sliding windows share.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::mem;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::cell::Cell;
use crate::aggregate::Aggregate;
use crate::error::Refusal;
use crate::event::{Data, Key};
use crate::pane::Timing;
use crate::span::{Span, fits, whole_micros};
use crate::state::{Keys, Slot, SlotMap};
use crate::time::Timestamp;
use crate::window::Window;
use crate::window::sealed::{HandOut, Parts, Placed, Settings, WindowStore};

/// More windows for one event than this are refused.
const MAX_WINDOWS_OF_AN_EVENT: i64 = 10_000;

/// Windows `[start, start + size)` for each `start = offset + n * every`, n any integer.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    stage: &'static str,
    size: Setting,
    every: Setting,
    offset: Setting,
}

/// A duration as it was given, and as it is computed with: for each event.
#[derive(Clone, Copy, Debug)]
struct Setting {
    given: Duration,
    span: Span,
}

impl Setting {
    fn new(given: Duration) -> Self {
        Setting { given, span: Span::of(given) }
    }
}

impl Grid {
    pub(super) fn new(stage: &'static str, size: Duration, every: Duration) -> Self {
        let offset = Setting::new(Duration::ZERO);
        Grid { stage, size: Setting::new(size), every: Setting::new(every), offset }
    }

    pub(super) fn set_offset(&mut self, offset: Duration) {
        self.offset = Setting::new(offset);
    }

    pub(super) fn size(&self) -> Span {
        self.size.span
    }

    pub(super) fn every(&self) -> Span {
        self.every.span
    }

    fn offset(&self) -> Span {
        self.offset.span
    }

    pub(super) fn stage(&self) -> &'static str {
        self.stage
    }

    /// `offset = 3s`
    pub(super) fn offset_argument(&self) -> Option<String> {
        Some(self.offset()).filter(|offset| !offset.is_zero()).map(|offset| format!("offset = {offset}"))
    }

    pub(super) fn refusals(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let mut refuse = |reason: String| refusals.push(Refusal::new(self.stage, reason));
        // What is wrong with both is said once.
        let [size, every, offset] = [self.size, self.every, self.offset].map(|setting| setting.given);
        let every = Some(("`every`", every)).filter(|_| every != size);
        let durations = [("window size", size)].into_iter().chain(every).chain([("`offset`", offset)]);
        for (name, duration) in durations.clone() {
            if !fits(duration) {
                refuse(format!("{name} is {duration:?}, which does not fit in 64 bits of microseconds"));
            } else if !whole_micros(duration) {
                refuse(format!("{name} is {duration:?}, and event time counts whole microseconds"));
            }
        }
        if !durations.map(|(_, duration)| duration).all(fits) {
            return refusals;
        }
        let (size, every) = (self.size(), self.every());
        if size.is_zero() {
            refuse("window size must be greater than zero".to_owned());
        } else if every.is_zero() {
            refuse("`every` must be greater than zero".to_owned());
        } else if size < every {
            refuse(format!(
                "`every` is {every}, longer than the window size {size}: events between windows would be lost"
            ));
        } else if self.windows_of_an_event() > MAX_WINDOWS_OF_AN_EVENT {
            refuse(format!(
                "each event would be in {} windows (size {size}, every {every}), and the limit is {MAX_WINDOWS_OF_AN_EVENT}",
                self.windows_of_an_event(),
            ));
        }
        refusals
    }

    /// The most windows that an event can be in.
    fn windows_of_an_event(&self) -> i64 {
        let (size, every) = (self.size().as_micros(), self.every().as_micros().max(1));
        size / every + i64::from(size % every != 0)
    }

    /// The timestamps all of whose windows fit in 64 bits and have their last instants within `results`.
    pub(super) fn admits(&self, results: &RangeInclusive<Timestamp>) -> RangeInclusive<Timestamp> {
        let [size, every, offset] = [self.size(), self.every(), self.offset()].map(|span| i128::from(span.as_micros()));
        let [first_result, last_result] = [results.start(), results.end()].map(|ts| i128::from(ts.as_micros()));
        let every = every.max(1);
        let start_at_or_before = |ts: i128| (ts - offset).div_euclid(every) * every + offset;
        // The last window that starts before there are instants, or has its last instant before the first result; and the
        // last that ends within 64 bits and has its last instant no later than the last result.
        let last_too_early = start_at_or_before((i128::from(i64::MIN) - 1).max(first_result - size));
        let last_to_fit = start_at_or_before((i128::from(i64::MAX) - size).min(last_result + 1 - size));
        let timestamp = |micros: i128| i64::try_from(micros).ok().map(Timestamp::from_micros);
        match (timestamp(last_too_early + size), timestamp(last_to_fit + every - 1)) {
            (Some(first), Some(last)) => first..=last,
            _ => Timestamp::MAX..=Timestamp::MIN,
        }
    }

    /// The latest window that holds `at`; None if it does not fit in 64 bits.
    fn last_window_of(&self, at: Timestamp) -> Option<Window> {
        let every = self.every().as_micros().max(1);
        let phase = self.offset().as_micros().checked_rem(every)?;
        let behind_start = (at.as_micros().rem_euclid(every) - phase).rem_euclid(every);
        let start = at.as_micros().checked_sub(behind_start)?;
        let end = start.checked_add(self.size().as_micros())?;
        Some(Window::new(Timestamp::from_micros(start), Timestamp::from_micros(end)))
    }

    /// The slice of an instant, the span around it without a bound of a window, and the ends of the first and of the last
    /// window that hold it. All windows of `at` fit in 64 bits.
    pub(super) fn slice_of(&self, at: Timestamp) -> Option<(Window, Timestamp, Timestamp)> {
        let last = self.last_window_of(at)?;
        let (size, every) = (self.size().as_micros(), self.every());
        // Windows end this long after others start.
        let phase = Span::from_micros(size.checked_rem(every.as_micros())?);
        let (bound, next_start) = (last.start.plus(phase), last.start.plus(every));
        Some(if phase.is_zero() {
            (Window::new(last.start, next_start), next_start, last.end)
        } else if at < bound {
            (Window::new(last.start, bound), bound, last.end)
        } else {
            (Window::new(bound, next_start), bound.plus(every), last.end)
        })
    }

    /// The last end of a window at `instant` or before, if that is `end`, the end of a window, or before that.
    pub(super) fn end_at_or_before(&self, instant: Timestamp, end: Timestamp) -> Option<Timestamp> {
        let every = i128::from(self.every().as_micros().max(1));
        let behind = i128::from(end.as_micros()) - i128::from(instant.as_micros());
        let steps = if behind <= 0 { 0 } else { (behind + every - 1) / every };
        i64::try_from(i128::from(end.as_micros()) - steps * every).ok().map(Timestamp::from_micros)
    }

    /// The window one step earlier, if that holds `at`, all of whose windows fit in 64 bits.
    fn earlier_window_of(&self, at: Timestamp, window: Window) -> Option<Window> {
        let every = self.every();
        let earlier = Window::new(window.start.minus(every), window.end.minus(every));
        (at < earlier.end).then_some(earlier)
    }
}

/// The windows on a grid: one table a window, kept in order of their ends.
#[derive(Debug)]
pub struct AlignedStore<K, Acc> {
    grid: Grid,
    /// The timestamps all of whose windows fit in 64 bits.
    admits: RangeInclusive<Timestamp>,
    lateness: Span,
    keys: Keys<K>,
    /// By their ends. Most events belong to the last ones, and windows go from the front.
    windows: VecDeque<Table<Acc>>,
    /// The room of a window that has gone, for the next one.
    spare: Option<SlotMap<Cell<Acc>>>,
    /// Changes of windows that have not fired are listed, too.
    emits_early: bool,
    /// Every window that ends here or before has fired.
    fired_to: Timestamp,
    /// No window fires or goes before the watermark gets here.
    next_change: Timestamp,
    /// The ends of windows that an event was added to after they had fired.
    corrected: Vec<Timestamp>,
    /// The latest window of the last event, and when it is gone.
    recent: Option<(Window, Timestamp)>,
    /// Where the last window was that was asked for.
    near: usize,
    open_windows: usize,
}

#[derive(Debug)]
struct Table<Acc> {
    window: Window,
    cells: SlotMap<Cell<Acc>>,
    /// The keys that are listed as changed since their last result.
    changed: Vec<Slot>,
}

impl<Acc> Table<Acc> {
    /// Hands out the cells that have changed.
    fn fire_changed<K: Key>(&mut self, keys: &Keys<K>, timing: Timing, emit: &mut impl HandOut<K, Acc>) {
        let mut changed = mem::take(&mut self.changed);
        keys.sort(&mut changed);
        self.fire(changed, keys, timing, emit);
    }

    /// Hands out all cells.
    fn fire_all<K: Key>(&mut self, keys: &mut Keys<K>, emit: &mut impl HandOut<K, Acc>) {
        self.changed = Vec::new();
        // Where most keys are in the window, the order of all keys is near enough.
        if keys.slots() < self.cells.len() * 4 {
            let ordered = keys.ordered().to_vec();
            self.fire(ordered, keys, Timing::OnTime, emit);
        } else {
            let mut slots: Vec<_> = self.cells.slots().collect();
            keys.sort(&mut slots);
            self.fire(slots, keys, Timing::OnTime, emit);
        }
    }

    /// Hands out the cells of these keys.
    fn fire<K: Key>(&mut self, slots: Vec<Slot>, keys: &Keys<K>, timing: Timing, emit: &mut impl HandOut<K, Acc>) {
        for slot in slots {
            if let Some(cell) = self.cells.get_mut(slot)
                && let Some(key) = keys.key(slot)
            {
                cell.fire(key, self.window, timing, emit);
            }
        }
    }
}

impl<K: Key, Acc: Data> AlignedStore<K, Acc> {
    pub(super) fn new(grid: Grid, settings: &Settings) -> Self {
        AlignedStore {
            admits: grid.admits(&(Timestamp::MIN..=Timestamp::MAX)),
            grid,
            lateness: settings.lateness(),
            keys: Keys::new(),
            windows: VecDeque::new(),
            spare: None,
            emits_early: settings.emit.is_some(),
            fired_to: Timestamp::MIN,
            next_change: Timestamp::MAX,
            corrected: Vec::new(),
            recent: None,
            near: 0,
            open_windows: 0,
        }
    }

    /// Where the window with this end is, or belongs.
    #[inline]
    fn position(&mut self, end: Timestamp) -> Result<usize, usize> {
        if self.windows.get(self.near).is_some_and(|table| table.window.end == end) {
            return Ok(self.near);
        }
        self.find(end)
    }

    fn find(&mut self, end: Timestamp) -> Result<usize, usize> {
        let last = self.windows.len().wrapping_sub(1);
        // The one before the last that was asked for, in a walk over the windows of an event; the last of all.
        for near in [self.near.wrapping_sub(1), last] {
            if self.windows.get(near).is_some_and(|table| table.window.end == end) {
                self.near = near;
                return Ok(near);
            }
        }
        let found = self.windows.binary_search_by_key(&end, |table| table.window.end);
        self.near = found.unwrap_or_else(|position| position);
        found
    }

    /// The latest window that holds `at`, if all of them fit in 64 bits, and when it is gone.
    #[inline]
    fn window_of(&mut self, at: Timestamp) -> Option<(Window, Timestamp)> {
        // Neighbours in time mostly share it, and to divide is slow.
        if let Some((window, _)) = self.recent
            && window.start <= at
            && at.as_micros().abs_diff(window.start.as_micros()) < self.grid.every().as_micros().unsigned_abs()
        {
            return self.recent;
        }
        let window = if self.admits.contains(&at) { self.grid.last_window_of(at) } else { None };
        self.recent = window.map(|window| (window, window.end.plus(self.lateness)));
        self.recent
    }

    /// The cell of a key in a window. It is about to change, so it is listed where that is wanted.
    #[inline]
    fn cell(&mut self, slot: Slot, window: Window, watermark: Timestamp, create: impl Fn() -> Acc) -> Option<&mut Acc> {
        let position = match self.position(window.end) {
            Ok(position) => position,
            Err(position) => self.open(position, window),
        };
        let Table { cells, changed, .. } = self.windows.get_mut(position)?;
        let cell = match cells.place(slot) {
            Some(place) => cells.at_mut(place)?,
            None => {
                self.keys.take(slot);
                self.open_windows += 1;
                cells.insert(slot, Cell::new(create()), self.keys.slots())?
            }
        };
        let is_due = window.end <= watermark;
        if (self.emits_early || is_due) && cell.list() {
            changed.push(slot);
            if is_due {
                self.corrected.push(window.end);
            }
        }
        Some(&mut cell.acc)
    }

    /// A window that has no table yet, and belongs here.
    #[cold]
    fn open(&mut self, position: usize, window: Window) -> usize {
        self.next_change = self.next_change.min(window.end);
        let cells = self.spare.take().unwrap_or_else(SlotMap::new);
        self.windows.insert(position, Table { window, cells, changed: Vec::new() });
        position
    }

    #[inline]
    fn is_gone(&self, end: Timestamp, watermark: Timestamp) -> bool {
        end.plus(self.lateness) <= watermark
    }

    /// Hands out the windows that an event was added to after they had fired.
    fn fire_corrected(&mut self, emit: &mut impl HandOut<K, Acc>) {
        let mut ends = mem::take(&mut self.corrected);
        ends.sort_unstable();
        ends.dedup();
        for end in ends {
            if let Ok(position) = self.position(end)
                && let Some(table) = self.windows.get_mut(position)
            {
                table.fire_changed(&self.keys, Timing::Late, emit);
            }
        }
    }

    /// Hands out the windows that end behind `fired_to`, and forgets those whose lateness is over.
    fn fire_due(&mut self, fired_to: Timestamp, watermark: Timestamp, emit: &mut impl HandOut<K, Acc>) {
        let first = self.windows.partition_point(|table| table.window.end <= fired_to);
        let behind = self.windows.partition_point(|table| table.window.end <= watermark);
        for table in self.windows.range_mut(first.min(behind)..behind) {
            table.fire_all(&mut self.keys, emit);
        }
        let next_end = self.windows.get(behind).map(|table| table.window.end);
        while let Some(first) = self.windows.pop_front_if(|table| table.window.end.plus(self.lateness) <= watermark) {
            self.forget(first.cells);
        }
        let not_gone = self.windows.front().map(|table| table.window.end.plus(self.lateness));
        self.next_change = next_end.into_iter().chain(not_gone).min().unwrap_or(Timestamp::MAX);
    }

    fn forget(&mut self, mut cells: SlotMap<Cell<Acc>>) {
        self.open_windows -= cells.len();
        for slot in cells.slots() {
            self.keys.release(slot);
        }
        if self.spare.is_none() {
            cells.clear();
            self.spare = Some(cells);
        }
    }
}

impl<K: Key, Acc: Data> WindowStore<K, Acc> for AlignedStore<K, Acc> {
    #[inline]
    fn add<T, A>(&mut self, key: Cow<'_, K>, at: Timestamp, event: &T, aggregate: &A, watermark: Timestamp) -> Placed
    where
        A: Aggregate<T, Acc = Acc>,
    {
        let Some((mut window, gone_at)) = self.window_of(at) else { return Placed::OutOfRange };
        if gone_at <= watermark {
            return Placed::Late;
        }
        let Some(slot) = self.keys.slot_of(key) else { return Placed::TooManyKeys };
        let mut due = false;
        loop {
            due |= window.end <= watermark;
            if let Some(acc) = self.cell(slot, window, watermark, || aggregate.create()) {
                aggregate.add(acc, at, event);
            }
            match self.grid.earlier_window_of(at, window) {
                None => return Placed::Taken { partly_late: false, due },
                Some(earlier) if self.is_gone(earlier.end, watermark) => {
                    return Placed::Taken { partly_late: true, due };
                }
                Some(earlier) => window = earlier,
            }
        }
    }

    fn upcoming<'a>(&mut self, keys: impl Iterator<Item = &'a K>)
    where
        K: 'a,
    {
        self.keys.expect(keys);
    }

    #[inline]
    fn moves(&mut self, watermark: Timestamp) -> bool {
        let is_due = self.next_change <= watermark || !self.corrected.is_empty();
        if !is_due {
            self.fired_to = watermark;
        }
        is_due
    }

    fn fire(&mut self, watermark: Timestamp, _parts: &impl Parts<Acc>, emit: &mut impl HandOut<K, Acc>) {
        let fired_to = mem::replace(&mut self.fired_to, watermark);
        self.fire_corrected(emit);
        if self.next_change <= watermark {
            self.fire_due(fired_to, watermark, emit);
        }
    }

    fn fire_early(&mut self, emit: &mut impl HandOut<K, Acc>) {
        let first = self.windows.partition_point(|table| table.window.end <= self.fired_to);
        for table in self.windows.range_mut(first..) {
            table.fire_changed(&self.keys, Timing::Early, emit);
        }
    }

    fn open_windows(&self) -> usize {
        self.open_windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{micros, secs};

    fn grid(size: i64, every: i64, offset: i64) -> Grid {
        let [size, every, offset] = [size, every, offset].map(|n| micros(u64::try_from(n).unwrap()));
        let mut grid = Grid::new("sliding", size, every);
        grid.set_offset(offset);
        grid
    }

    /// All windows of an instant, latest first; None if one does not fit in 64 bits.
    fn windows_of(grid: &Grid, at: i64) -> Option<Vec<(i64, i64)>> {
        let last = grid.last_window_of(Timestamp::from_micros(at))?;
        let (mut start, every, size) = (last.start.as_micros(), grid.every().as_micros(), grid.size().as_micros());
        let mut windows = vec![(start, start + size)];
        while i128::from(at) < i128::from(start) - i128::from(every) + i128::from(size) {
            start = start.checked_sub(every)?;
            windows.push((start, start + size));
        }
        let walked: Vec<_> =
            std::iter::successors(Some(last), |&window| grid.earlier_window_of(Timestamp::from_micros(at), window))
                .map(|window| (window.start.as_micros(), window.end.as_micros()))
                .collect();
        assert_eq!(walked, windows);
        Some(windows)
    }

    #[test]
    fn windows_are_aligned_by_floor_division() {
        assert_eq!(windows_of(&grid(10, 10, 0), 9), Some(vec![(0, 10)]));
        assert_eq!(windows_of(&grid(10, 10, 0), 10), Some(vec![(10, 20)]));
        assert_eq!(windows_of(&grid(10, 10, 0), -1), Some(vec![(-10, 0)]));
        assert_eq!(windows_of(&grid(10, 10, 3), 2), Some(vec![(-7, 3)]));
        assert_eq!(windows_of(&grid(10, 10, 23), 3), Some(vec![(3, 13)]));
        assert_eq!(windows_of(&grid(10, 5, 0), 7), Some(vec![(5, 15), (0, 10)]));
        assert_eq!(windows_of(&grid(10, 4, 1), -1), Some(vec![(-3, 7), (-7, 3)]));
    }

    #[test]
    fn the_admitted_timestamps_are_those_whose_windows_all_fit() {
        for grid in [grid(10, 10, 0), grid(10, 10, 3), grid(10, 3, 1), grid(7, 5, 1_000), grid(1, 1, 0)] {
            let admits = grid.admits(&(Timestamp::MIN..=Timestamp::MAX));
            let (first, last) = (admits.start().as_micros(), admits.end().as_micros());
            assert!(windows_of(&grid, first).is_some(), "{grid:?} first");
            assert!(windows_of(&grid, last).is_some(), "{grid:?} last");
            assert!(first == i64::MIN || windows_of(&grid, first - 1).is_none(), "{grid:?} before the first");
            assert!(last == i64::MAX || windows_of(&grid, last + 1).is_none(), "{grid:?} after the last");
        }
    }

    #[test]
    fn the_admitted_timestamps_are_those_whose_results_are_admitted() {
        for grid in [grid(10, 10, 0), grid(10, 10, 3), grid(10, 3, 1), grid(7, 5, 1_000), grid(1, 1, 0)] {
            for (first, last) in [(-20, 35), (-21, 34), (0, 9), (3, 3), (7, -7)] {
                let admits = grid.admits(&(Timestamp::from_micros(first)..=Timestamp::from_micros(last)));
                for at in -100..100 {
                    let fits =
                        windows_of(&grid, at).unwrap().iter().all(|(_, end)| (first..=last).contains(&(end - 1)));
                    assert_eq!(admits.contains(&Timestamp::from_micros(at)), fits, "{grid:?} {first} to {last}: {at}");
                }
            }
        }
    }

    #[test]
    fn a_slice_is_in_or_out_of_each_window_as_a_whole() {
        for grid in [grid(10, 10, 0), grid(10, 5, 3), grid(10, 3, 1), grid(7, 5, 1_000), grid(9, 2, 0), grid(1, 1, 0)] {
            for at in -30..30 {
                let (span, first_end, last_end) = grid.slice_of(Timestamp::from_micros(at)).unwrap();
                let (start, end) = (span.start.as_micros(), span.end.as_micros());
                assert!(start <= at && at < end, "{grid:?} {at}");
                let windows = windows_of(&grid, at);
                for other in start..end {
                    assert_eq!(windows_of(&grid, other), windows, "{grid:?} {at} and {other}");
                }
                assert_ne!(windows_of(&grid, start - 1), windows, "{grid:?} before {at}");
                assert_ne!(windows_of(&grid, end), windows, "{grid:?} behind {at}");
                let ends: Vec<_> = windows.unwrap().into_iter().map(|(_, end)| end).collect();
                assert_eq!(ends.last(), Some(&first_end.as_micros()));
                assert_eq!(ends.first(), Some(&last_end.as_micros()));
                for instant in -40..60 {
                    let found = grid.end_at_or_before(Timestamp::from_micros(instant), last_end).unwrap().as_micros();
                    let every = grid.every().as_micros();
                    assert!(found <= instant && (instant < found + every || found == last_end.as_micros()));
                    assert_eq!((last_end.as_micros() - found) % every, 0);
                }
            }
        }
    }

    #[test]
    fn impossible_grids_are_refused() {
        let reasons = |size, every| -> Vec<String> {
            let grid = Grid::new("sliding", size, every);
            grid.refusals().iter().map(|refusal| refusal.reason().to_owned()).collect()
        };
        assert_eq!(reasons(secs(0), secs(0)), ["window size must be greater than zero"]);
        assert_eq!(reasons(secs(10), secs(0)), ["`every` must be greater than zero"]);
        assert_eq!(
            reasons(secs(10), secs(11)),
            ["`every` is 11s, longer than the window size 10s: events between windows would be lost"],
        );
        assert_eq!(
            reasons(secs(86_400), Duration::from_millis(1)),
            ["each event would be in 86400000 windows (size 1d, every 1ms), and the limit is 10000"],
        );
        assert_eq!(reasons(secs(10), Duration::from_millis(1)), [] as [&str; 0]);
        assert_eq!(
            reasons(Duration::from_nanos(1_500), secs(0)),
            ["window size is 1.5µs, and event time counts whole microseconds", "`every` must be greater than zero",],
        );
    }
}
