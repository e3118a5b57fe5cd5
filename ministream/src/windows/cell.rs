//! What is kept of one key in one window, where windows do not depend on the events in them.

use crate::pane::{Replaced, Timing};
use crate::window::Window;
use crate::window::sealed::{Firing, HandOut};

#[derive(Debug)]
pub(super) struct Cell<Acc> {
    pub(super) acc: Acc,
    /// How many results came of it.
    results: u32,
    /// It is listed among those that have changed since their last result.
    is_listed: bool,
}

impl<Acc> Cell<Acc> {
    pub(super) fn new(acc: Acc) -> Self {
        Cell { acc, results: 0, is_listed: false }
    }

    /// Whether the cell has to be listed now as one that has changed; from then on it counts as listed.
    pub(super) fn list(&mut self) -> bool {
        !std::mem::replace(&mut self.is_listed, true)
    }

    /// Hands the cell out. It has not changed since, and is listed no more.
    pub(super) fn fire<K>(&mut self, key: &K, window: Window, timing: Timing, emit: &mut impl HandOut<K, Acc>) {
        self.is_listed = false;
        let firing =
            Firing { key, window, acc: &self.acc, timing, update: self.results, replaces: Replaced::default() };
        self.results = self.results.saturating_add(u32::from(emit.take(firing)));
    }
}
