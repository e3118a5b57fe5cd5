//! `watermark`: says how far a stream is complete.

use std::fmt;
use std::ops::RangeInclusive;

use crate::context::ClockId;
use crate::counters::OperatorCounters;
use crate::error::Refusal;
use crate::event::Data;
use crate::operator::{Operator, Output, Port, Ports, Push, Verdict};
use crate::plan::{Needs, Plan, Upstream};
use crate::stream::{Stream, Then};
use crate::time::Timestamp;
use crate::watermark::{Observed, WatermarkStrategy};

/// See [`Stream::watermark`].
pub struct MakeWatermark<T, S> {
    strategy: S,
    clock: Option<ClockId>,
    current: Option<Timestamp>,
    /// The timestamps whose windows fit in 64 bits.
    admits: RangeInclusive<Timestamp>,
    rejected: Port<T>,
    rejected_count: u64,
}

impl<T: Data, C> Stream<T, C> {
    /// Makes the stream's watermark: behind it, windows know when they are complete.
    ///
    /// An event that no window behind it can hold (its end does not fit in 64 bits), or that the strategy does not take,
    /// is rejected: it leaves by [`with_rejected`](Stream::with_rejected) and moves nothing.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// # fn f(numbers: Stream<i64>) {
    /// let (numbers, rejected) = numbers.watermark(Bounded::new(secs(3)).max_ahead(days(1))).with_rejected();
    /// # }
    /// ```
    pub fn watermark<S: WatermarkStrategy>(self, strategy: S) -> Stream<T, Then<T, C, MakeWatermark<T, S>>> {
        self.operator(MakeWatermark {
            strategy,
            clock: None,
            current: None,
            admits: Timestamp::MIN..=Timestamp::MAX,
            rejected: Port::unread(),
            rejected_count: 0,
        })
    }
}

impl<T: Data, C, S> Stream<T, Then<T, C, MakeWatermark<T, S>>> {
    /// The events that are rejected, as a stream of its own.
    pub fn with_rejected(mut self) -> (Self, Stream<T>) {
        let (port, rejected) = self.open_port();
        self.operator_mut().rejected = port;
        (self, rejected)
    }
}

impl<T: Data, S: WatermarkStrategy> MakeWatermark<T, S> {
    fn advance<P: Push<T>>(&mut self, to: Timestamp, out: &mut Output<'_, P>) {
        if self.current < Some(to) {
            self.current = Some(to);
            if let Some(clock) = self.clock {
                out.set_clock(clock, to);
            }
            out.watermark(to);
        }
    }
}

impl<T: Data, S: WatermarkStrategy> Operator<T> for MakeWatermark<T, S> {
    type Out = T;

    #[inline]
    fn on_event<P: Push<T>>(&mut self, at: Timestamp, event: T, out: &mut Output<'_, P>) {
        let observed = if self.admits.contains(&at) { self.strategy.observe(at) } else { Observed::Rejected };
        match observed {
            Observed::Rejected => {
                self.rejected_count += 1;
                out.send(&self.rejected, at, event);
                out.reject();
            }
            Observed::Taken(watermark) => {
                let verdict = out.emit(at, event);
                if let (Verdict::Taken, Some(to)) = (verdict, watermark) {
                    self.advance(to, out);
                }
            }
        }
    }

    fn on_watermark<P: Push<T>>(&mut self, to: Timestamp, out: &mut Output<'_, P>) {
        self.advance(to, out);
    }

    fn upcoming<P: Push<T>>(&mut self, events: &[(Timestamp, T)], out: &mut Output<'_, P>) {
        out.upcoming(events);
    }

    fn open(&mut self, upstream: Upstream, plan: &mut Plan<'_>) -> Upstream {
        for refusal in self.strategy.refusals() {
            plan.refuse(refusal);
        }
        if upstream.clock.is_some() {
            let reason = "the stream has a watermark already: one of the two stages has to go";
            plan.refuse(Refusal::new("watermark", reason));
        }
        let clock = plan.add_clock();
        self.clock = Some(clock);
        Upstream { clock: Some(clock), ..upstream }
    }

    fn prepare(&mut self, behind: Needs, _plan: &mut Plan<'_>) -> Needs {
        self.admits = behind.admits.clone();
        Needs { clocks: self.clock.into_iter().collect(), ..behind }
    }

    fn ports(&self) -> Ports {
        [self.rejected.named("rejected"), None, None]
    }

    fn describe(&self) -> Vec<String> {
        vec![self.strategy.describe()]
    }

    fn name(&self) -> &'static str {
        "watermark"
    }

    fn count(&self, counters: &mut OperatorCounters) {
        counters.rejected = self.rejected_count;
    }
}

impl<T, S: fmt::Debug> fmt::Debug for MakeWatermark<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MakeWatermark").field("strategy", &self.strategy).finish_non_exhaustive()
    }
}
