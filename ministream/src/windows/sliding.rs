//! Sliding windows: windows of one size that start at regular steps and overlap.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::aligned::{AlignedStore, Grid};
use crate::error::Refusal;
use crate::event::{Data, Key};
use crate::span::Span;
use crate::time::Timestamp;
use crate::window::sealed::{self, Settings};

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
    type Store<K: Key, Acc: Data> = AlignedStore<K, Acc>;

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
        AlignedStore::new(self.grid.clone(), settings)
    }
}
