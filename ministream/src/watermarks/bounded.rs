//! Bounded disorder: events come at most a delay behind the newest.

use std::time::Duration;

use crate::error::Refusal;
use crate::span::{Span, whole_micros};
use crate::time::Timestamp;
use crate::watermark::{Observed, WatermarkStrategy};

/// Watermark = largest timestamp seen so far − delay.
///
/// ```
/// use ministream::prelude::*;
///
/// let strategy = Bounded::new(secs(3)).max_ahead(days(1));
/// ```
#[derive(Clone, Debug)]
pub struct Bounded {
    delay: Duration,
    /// The delay as it is computed with, for each event.
    behind: Span,
    idle: Option<Duration>,
    max_ahead: Option<Duration>,
    largest: Option<Timestamp>,
}

impl Bounded {
    /// Events come at most `delay` behind the newest; zero for a stream that is in order.
    pub fn new(delay: Duration) -> Self {
        Bounded { delay, behind: Span::of(delay), idle: None, max_ahead: None, largest: None }
    }

    /// After how much silence, of the wall clock, a partition of the source holds the watermark back no longer.
    ///
    /// The core reads no clock: this is for the runner that reads the source.
    pub fn idle(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Events more than this ahead of the largest timestamp so far are rejected, so that one broken clock does not close
    /// everything. The first event is always taken.
    ///
    /// It has to be longer than any silence of the stream: only events that are taken move the largest timestamp, so after
    /// a longer one all that follow are rejected.
    pub fn max_ahead(mut self, max_ahead: Duration) -> Self {
        self.max_ahead = Some(max_ahead);
        self
    }

    fn settings(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        let optional = [("idle", self.idle), ("max_ahead", self.max_ahead)];
        let stated = optional.into_iter().filter_map(|(name, duration)| Some((name, duration?)));
        [("delay", self.delay)].into_iter().chain(stated)
    }
}

impl WatermarkStrategy for Bounded {
    #[inline]
    fn observe(&mut self, at: Timestamp) -> Observed {
        if let (Some(largest), Some(max_ahead)) = (self.largest, self.max_ahead)
            && largest.plus(Span::of(max_ahead)) < at
        {
            return Observed::Rejected;
        }
        if Some(at) <= self.largest {
            return Observed::Taken(None);
        }
        self.largest = Some(at);
        Observed::Taken(Some(at.minus(self.behind)))
    }

    fn describe(&self) -> String {
        let settings: Vec<_> =
            self.settings().map(|(name, duration)| format!("{name} = {}", Span::of(duration))).collect();
        format!("watermark({})", settings.join(", "))
    }

    fn refusals(&self) -> Vec<Refusal> {
        self.settings()
            .filter(|(_, duration)| !whole_micros(*duration) && *duration != Duration::MAX)
            .map(|(name, duration)| {
                let reason = format!("{name} is {duration:?}, and event time counts whole microseconds");
                Refusal::new("watermark", reason)
            })
            .collect()
    }
}
