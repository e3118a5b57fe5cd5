//! Tumbling windows: each event is in exactly one.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::aligned::{AlignedStore, Grid};
use crate::error::Refusal;
use crate::event::{Data, Key};
use crate::span::Span;
use crate::time::Timestamp;
use crate::window::sealed::{self, Settings};

/// Windows of equal size side by side, `[start, start + size)`.
///
/// They are aligned to the Unix epoch plus [`offset`](Tumbling::offset), before the epoch too: days are days in UTC, and
/// with `offset(hours(23))` days at UTC+1.
///
/// ```
/// use ministream::prelude::*;
///
/// let days_in_tokyo = Tumbling::new(days(1)).offset(hours(24 - 9));
/// ```
#[derive(Clone, Debug)]
pub struct Tumbling {
    grid: Grid,
}

impl Tumbling {
    /// Windows of this size, which has to be greater than zero.
    pub fn new(size: Duration) -> Self {
        Tumbling { grid: Grid::new("tumbling", size, size) }
    }

    /// Where windows start: at this much after the epoch, and every size before and after it.
    pub fn offset(mut self, offset: Duration) -> Self {
        self.grid.set_offset(offset);
        self
    }
}

impl sealed::WindowKind for Tumbling {
    type Store<K: Key, Acc: Data> = AlignedStore<K, Acc>;

    fn stage(&self) -> &'static str {
        self.grid.stage()
    }

    fn arguments(&self) -> Vec<String> {
        [self.grid.size().to_string()].into_iter().chain(self.grid.offset_argument()).collect()
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
