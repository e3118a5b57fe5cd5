//! What windows give: [`Pane`]s, and [`Late`] events.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::event::Event;
use crate::time::Timestamp;
use crate::window::Window;

/// One firing's result for one window of one key.
///
/// A window fires once when the watermark reaches its end. Each event that comes after that, within the allowed lateness,
/// makes it fire again at once; and with [`emit`](crate::WindowedStream::emit) it gives early results before its end. A
/// result that is not the first of its window is an update, and takes the place of the earlier one. Its own event time is
/// the last instant of its window, so that windows over results nest.
///
/// `Display` writes `[12:00:00, 12:00:10) alice = 42`, and behind it `(early)` if it is, and `(update 1)` for the second
/// result of the window.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pane<K, V> {
    /// The key.
    pub key: K,
    /// The window; of a session its bounds so far.
    pub window: Window,
    /// The aggregate over all events of the window so far, never a difference.
    pub value: V,
    pub(crate) timing: Timing,
    pub(crate) update: u32,
    pub(crate) replaces: Replaced,
}

/// Windows that a result takes the place of: hardly ever any, so no larger than it has to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::box_collection, reason = "8 bytes in each result, not 24")]
pub(crate) struct Replaced(Option<Box<Vec<Window>>>);

impl Replaced {
    pub(crate) fn new(windows: Vec<Window>) -> Self {
        Replaced((!windows.is_empty()).then(|| Box::new(windows)))
    }

    fn windows(&self) -> &[Window] {
        self.0.as_ref().map_or(&[], |windows| windows)
    }
}

impl Serialize for Replaced {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.windows().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Replaced {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Replaced::new)
    }
}

/// When a [`Pane`] came, measured by the watermark against the end of its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timing {
    /// Before the end.
    Early,
    /// When the watermark reached the end, or the input ended.
    OnTime,
    /// After that, for an event within the allowed lateness.
    Late,
}

impl<K, V> Pane<K, V> {
    /// When it came.
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// Whether it came before the end of its window: others will follow.
    pub fn is_early(&self) -> bool {
        self.timing == Timing::Early
    }

    /// Whether a result for this window, or for a session merged into it, came before.
    pub fn is_update(&self) -> bool {
        self.update > 0
    }

    /// How many results for this window, or for sessions merged into it, came before, early ones too.
    pub fn update(&self) -> u32 {
        self.update
    }

    /// Sessions only: the windows of earlier results that are merged into this one and have other bounds, by end and
    /// start. Each is named once.
    pub fn replaces(&self) -> &[Window] {
        self.replaces.windows()
    }
}

impl<K, V> Event for Pane<K, V> {
    fn timestamp(&self) -> Timestamp {
        self.window.last_instant()
    }
}

impl<K: fmt::Display, V: fmt::Display> fmt::Display for Pane<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} = {}", self.window, self.key, self.value)?;
        let early = self.is_early().then(|| "early".to_owned());
        let update = self.is_update().then(|| format!("update {}", self.update));
        let notes: Vec<_> = early.into_iter().chain(update).collect();
        if notes.is_empty() {
            return Ok(());
        }
        write!(f, " ({}", notes.join(", "))?;
        for (position, window) in self.replaces().iter().enumerate() {
            f.write_str(if position == 0 { ", replaces " } else { " and " })?;
            window.fmt(f)?;
        }
        f.write_str(")")
    }
}

/// An event that came when all of its windows were gone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Late<T> {
    /// The event as it came.
    pub event: T,
    /// Its event time.
    pub timestamp: Timestamp,
    /// The watermark that made it late.
    pub watermark: Timestamp,
}

impl<T> Late<T> {
    pub(crate) fn new(event: T, timestamp: Timestamp, watermark: Timestamp) -> Self {
        Late { event, timestamp, watermark }
    }

    /// How far the event lies behind the watermark that made it late.
    pub fn behind(&self) -> Duration {
        self.timestamp.until(self.watermark)
    }
}

impl<T> Event for Late<T> {
    fn timestamp(&self) -> Timestamp {
        self.timestamp
    }
}

/// `late at 12:00:31 (event time 12:00:04): Click { … }`
impl<T: fmt::Debug> fmt::Display for Late<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "late at {} (event time {}): {:?}", self.watermark, self.timestamp, self.event)
    }
}
