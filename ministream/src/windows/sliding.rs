//! Sliding windows: windows of one size that start at regular steps and overlap.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::aligned::{AlignedStore, Grid};
use super::slices::SliceStore;
use crate::aggregate::Aggregate;
use crate::error::Refusal;
use crate::event::{Data, Key};
use crate::span::Span;
use crate::time::Timestamp;
use crate::window::sealed::{self, HandOut, Parts, Placed, Settings, WindowStore};

/// Windows of one size, a new one every step: `Sliding::new(secs(60), secs(5))` gives the last minute, every five
/// seconds.
///
/// Each event is in `size / every` windows, rounded up or down where that is not whole; more than 10,000 are refused. An
/// event that comes late counts in those of its windows that live, and is late only if none does.
#[derive(Clone, Debug)]
pub struct Sliding {
    grid: Grid,
}

impl Sliding {
    /// Windows of this size, one every step. Both have to be greater than zero, and `every` no greater than `size`.
    pub fn new(size: Duration, every: Duration) -> Self {
        Sliding { grid: Grid::new("sliding", size, every) }
    }

    /// Where windows start: at this much after the epoch, and every step before and after it.
    pub fn offset(mut self, offset: Duration) -> Self {
        self.grid.set_offset(offset);
        self
    }
}

impl sealed::WindowKind for Sliding {
    type Store<K: Key, Acc: Data> = SlidingStore<K, Acc>;

    fn stage(&self) -> &'static str {
        self.grid.stage()
    }

    fn arguments(&self) -> Vec<String> {
        let size_and_step = [self.grid.size().to_string(), format!("every = {}", self.grid.every())];
        size_and_step.into_iter().chain(self.grid.offset_argument()).collect()
    }

    fn refusals(&self, _settings: &Settings) -> Vec<Refusal> {
        self.grid.refusals()
    }

    fn admits(&self, results: &RangeInclusive<Timestamp>) -> RangeInclusive<Timestamp> {
        self.grid.admits(results)
    }

    fn retention(&self) -> Option<Span> {
        Some(self.grid.size())
    }

    fn store<K: Key, Acc: Data>(&self, settings: &Settings) -> Self::Store<K, Acc> {
        // Early results are of windows that change, and slices know of no windows before they fire.
        if settings.is_invertible && settings.emit.is_none() {
            SlidingStore::Slices(SliceStore::new(self.grid.clone(), settings))
        } else {
            SlidingStore::Windows(AlignedStore::new(self.grid.clone(), settings))
        }
    }
}

/// Sliding windows: by slices where the aggregate allows it, else each window for itself.
#[derive(Debug)]
pub enum SlidingStore<K, Acc> {
    /// One update an event.
    Slices(SliceStore<K, Acc>),
    /// One update for each window of an event.
    Windows(AlignedStore<K, Acc>),
}

/// Calls the same method of whichever it is.
macro_rules! either {
    ($self:expr, $store:ident => $call:expr) => {
        match $self {
            SlidingStore::Slices($store) => $call,
            SlidingStore::Windows($store) => $call,
        }
    };
}

impl<K: Key, Acc: Data> WindowStore<K, Acc> for SlidingStore<K, Acc> {
    #[inline]
    fn add<T, A>(&mut self, key: Cow<'_, K>, at: Timestamp, event: &T, aggregate: &A, watermark: Timestamp) -> Placed
    where
        A: Aggregate<T, Acc = Acc>,
    {
        either!(self, store => store.add(key, at, event, aggregate, watermark))
    }

    #[inline]
    fn upcoming<'a>(&mut self, keys: impl Iterator<Item = &'a K>)
    where
        K: 'a,
    {
        either!(self, store => store.upcoming(keys));
    }

    #[inline]
    fn moves(&mut self, watermark: Timestamp) -> bool {
        either!(self, store => store.moves(watermark))
    }

    fn fire(&mut self, watermark: Timestamp, parts: &impl Parts<Acc>, emit: &mut impl HandOut<K, Acc>) {
        either!(self, store => store.fire(watermark, parts, emit));
    }

    fn fire_early(&mut self, emit: &mut impl HandOut<K, Acc>) {
        either!(self, store => store.fire_early(emit));
    }

    fn open_windows(&self) -> usize {
        either!(self, store => store.open_windows())
    }
}
