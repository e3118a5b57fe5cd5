//! The global window: everything of a key, over all time.

use std::borrow::Cow;
use std::mem;
use std::ops::RangeInclusive;

use super::cell::Cell;
use crate::aggregate::Aggregate;
use crate::error::Refusal;
use crate::event::{Data, Key};
use crate::pane::Timing;
use crate::span::Span;
use crate::state::Map;
use crate::time::Timestamp;
use crate::window::Window;
use crate::window::sealed::{self, HandOut, Parts, Placed, Settings, WindowStore};

/// One window for each key, `[Timestamp::MIN, Timestamp::MAX)`, shown as `[all time)`.
///
/// It ends with the input, so it has to be said when results are wanted before that, with
/// [`emit`](crate::WindowedStream::emit). Nothing is ever late for it, and every key is kept for ever.
///
/// ```
/// use ministream::prelude::*;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Clone, Serialize, Deserialize)]
/// # struct Click { user: String, value: i64 }
///
/// /// What each user has spent so far, once a minute of event time.
/// fn spent(clicks: Stream<Click>) -> Stream<Pane<String, i64>> {
///     let by_user = clicks.watermark(Bounded::new(secs(3))).key_by(|click| &click.user);
///     by_user.window(Global::new()).emit(Emit::every(minutes(1))).discard_late().sum(|click| click.value).into_streams()
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Global(());

const ALL_TIME: Window = Window::new(Timestamp::MIN, Timestamp::MAX);

impl Global {
    /// One window for each key.
    pub const fn new() -> Self {
        Global(())
    }
}

impl sealed::WindowKind for Global {
    type Store<K: Key, Acc: Data> = GlobalStore<K, Acc>;

    fn stage(&self) -> &'static str {
        "global"
    }

    fn arguments(&self) -> Vec<String> {
        Vec::new()
    }

    fn refusals(&self, settings: &Settings) -> Vec<Refusal> {
        let silent = "`global` fires only at the end of the input: say when results are wanted, as in \
                      `global(emit = every(1m))`";
        let never_late = "nothing is ever late for `global`: leave `lateness` out";
        let reasons = [(settings.emit.is_none(), silent), (!settings.lateness().is_zero(), never_late)];
        reasons
            .into_iter()
            .filter(|(is_wrong, _)| *is_wrong)
            .map(|(_, reason)| Refusal::new("global", reason))
            .collect()
    }

    fn admits(&self, results: &RangeInclusive<Timestamp>) -> RangeInclusive<Timestamp> {
        if results.contains(&ALL_TIME.last_instant()) {
            ALL_TIME.start..=ALL_TIME.last_instant()
        } else {
            Timestamp::MAX..=Timestamp::MIN
        }
    }

    fn retention(&self) -> Option<Span> {
        None
    }

    fn store<K: Key, Acc: Data>(&self, _settings: &Settings) -> Self::Store<K, Acc> {
        GlobalStore { cells: Map::default(), changed: Vec::new() }
    }
}

/// The window of each key.
#[derive(Debug)]
pub struct GlobalStore<K, Acc> {
    cells: Map<K, Cell<Acc>>,
    /// The keys whose windows have changed since their last results.
    changed: Vec<K>,
}

impl<K: Key, Acc: Data> WindowStore<K, Acc> for GlobalStore<K, Acc>
where
    Acc: Data,
{
    fn add<T, A>(&mut self, key: Cow<'_, K>, at: Timestamp, event: &T, aggregate: &A, _watermark: Timestamp) -> Placed
    where
        A: Aggregate<T, Acc = Acc>,
    {
        if at > ALL_TIME.last_instant() {
            return Placed::OutOfRange;
        }
        let cell = match self.cells.get_mut(&*key) {
            Some(cell) => cell,
            None => self.cells.entry(key.clone().into_owned()).or_insert_with(|| Cell::new(aggregate.create())),
        };
        aggregate.add(&mut cell.acc, at, event);
        if cell.list() {
            self.changed.push(key.into_owned());
        }
        Placed::Taken { partly_late: false, due: false }
    }

    fn moves(&mut self, _watermark: Timestamp) -> bool {
        false
    }

    fn fire(&mut self, _watermark: Timestamp, _parts: &impl Parts<Acc>, _emit: &mut impl HandOut<K, Acc>) {}

    fn fire_early(&mut self, emit: &mut impl HandOut<K, Acc>) {
        let mut changed = mem::take(&mut self.changed);
        changed.sort_unstable();
        for key in changed {
            if let Some(cell) = self.cells.get_mut(&key) {
                cell.fire(&key, ALL_TIME, Timing::Early, emit);
            }
        }
    }

    fn finish(&mut self, _parts: &impl Parts<Acc>, emit: &mut impl HandOut<K, Acc>) {
        let mut cells: Vec<_> = self.cells.iter_mut().collect();
        cells.sort_unstable_by_key(|(key, _)| *key);
        for (key, cell) in cells {
            cell.fire(key, ALL_TIME, Timing::OnTime, emit);
        }
    }

    fn open_windows(&self) -> usize {
        self.cells.len()
    }
}
