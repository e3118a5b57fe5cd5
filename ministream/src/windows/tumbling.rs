//! Tumbling windows: each event is in exactly one.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::aligned::{AlignedStore, Grid};
use crate::aggregate::Aggregate;
use crate::error::Refusal;
use crate::event::Key;
use crate::span::Span;
use crate::time::Timestamp;
use crate::window::sealed;

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
    type Store<K: Key, T: 'static, A: Aggregate<T>> = AlignedStore<K, A::Acc>;

    fn describe(&self) -> String {
        format!("tumbling({}{})", self.grid.size(), self.grid.describe_offset())
    }

    fn refusals(&self) -> Vec<Refusal> {
        self.grid.refusals()
    }

    fn admits(&self) -> RangeInclusive<Timestamp> {
        self.grid.admits()
    }

    fn retention(&self) -> Option<Span> {
        Some(self.grid.size())
    }

    fn store<K: Key, T: 'static, A: Aggregate<T>>(&self, lateness: Span) -> Self::Store<K, T, A> {
        AlignedStore::new(self.grid.clone(), lateness)
    }
}
