//! Events held back until the watermark has passed them, so that what follows sees them in the order of their times,
//! however they arrived.

use std::collections::BTreeMap;

use crate::encoding::encoded;
use crate::event::{Data, Key};
use crate::time::Timestamp;

/// How far the input is complete.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Complete {
    /// No event before this instant is expected any more.
    To(Timestamp),
    /// No event at all.
    Ended,
}

impl Complete {
    /// Whether all events at this instant are there.
    pub(crate) fn covers(self, at: Timestamp) -> bool {
        match self {
            Complete::To(watermark) => at < watermark,
            Complete::Ended => true,
        }
    }

    /// Whether all events before this instant are there.
    pub(crate) fn reaches(self, at: Timestamp) -> bool {
        match self {
            Complete::To(watermark) => at <= watermark,
            Complete::Ended => true,
        }
    }
}

/// The events, by time and key.
#[derive(Debug)]
pub(crate) struct Held<K, T> {
    events: BTreeMap<(Timestamp, K), Vec<T>>,
    len: usize,
}

impl<K: Key, T: Data> Held<K, T> {
    pub(crate) fn new() -> Self {
        Held { events: BTreeMap::new(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn hold(&mut self, at: Timestamp, key: K, event: T) {
        self.events.entry((at, key)).or_default().push(event);
        self.len += 1;
    }

    /// The earliest time and key.
    pub(crate) fn first(&self) -> Option<(Timestamp, &K)> {
        self.events.first_key_value().map(|((at, key), _)| (*at, key))
    }

    /// Takes out the events of the earliest time and key. Among themselves they are in an order that does not depend on
    /// their arrival.
    pub(crate) fn take_first(&mut self) -> Option<(Timestamp, K, Vec<T>)> {
        let ((at, key), mut events) = self.events.pop_first()?;
        self.len -= events.len();
        if events.len() > 1 {
            events.sort_by_cached_key(encoded);
        }
        Some((at, key, events))
    }
}
