//! `dedup`: lets the first copy of each event through.

use std::fmt;
use std::time::Duration;

use crate::context::ClockId;
use crate::counters::OperatorCounters;
use crate::error::Refusal;
use crate::event::{Data, Id};
use crate::operator::{Operator, Output, Port, Ports, Push, Verdict};
use crate::plan::{Needs, Plan, Retention, Upstream};
use crate::select::{ByRef, ByValue, Select};
use crate::span::{Span, whole_micros};
use crate::state::Ids;
use crate::stream::{Stream, Then};
use crate::time::Timestamp;

/// See [`Stream::dedup`].
pub struct Dedup<T, S: Select<T>> {
    select: S,
    ttl: Option<Duration>,
    ids: Ids<S::Selected>,
    /// The watermarks that ids are forgotten by, the smallest of them: those of the `watermark` stages behind, or else of
    /// that in front.
    clocks: Vec<ClockId>,
    duplicates: Port<T>,
    held_back: u64,
}

impl<T: 'static, C> Stream<T, C> {
    /// Lets the first event with each id through and holds back the copies: at-least-once delivery has the effect of
    /// exactly-once.
    ///
    /// Only the id is looked at, over the whole stream, not by key. The first arrival counts; copies have no other effect,
    /// and do not move the watermark. An id is forgotten when the watermark reaches the event time of the first copy plus
    /// the [`ttl`](Stream::ttl). Left out, that is the smallest one that is exact for the windows behind: a copy is then
    /// always either held back or late, and never counted twice. Without a tumbling or sliding window behind, a ttl has to
    /// be stated.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Clone, Serialize, Deserialize)]
    /// # struct Click { event_id: u64 }
    /// # fn f(clicks: Stream<Click>) {
    /// let (unique, copies) = clicks.dedup(|click| &click.event_id).ttl(minutes(10)).with_duplicates();
    /// # }
    /// ```
    pub fn dedup<K, F>(self, id: F) -> Stream<T, Then<T, C, Dedup<T, ByRef<F, K>>>>
    where
        T: Data,
        K: Id,
        F: Fn(&T) -> &K + Send + 'static,
    {
        self.operator(Dedup::new(ByRef::new(id)))
    }

    /// As [`dedup`](Stream::dedup), with an id that is computed from the event.
    pub fn dedup_owned<K, F>(self, id: F) -> Stream<T, Then<T, C, Dedup<T, ByValue<F, K>>>>
    where
        T: Data,
        K: Id,
        F: Fn(&T) -> K + Send + 'static,
    {
        self.operator(Dedup::new(ByValue::new(id)))
    }
}

impl<T: Data, C, S: Select<T>> Stream<T, Then<T, C, Dedup<T, S>>> {
    /// For how long an id is remembered: until the watermark is this much later than the first copy.
    ///
    /// It has to be greater than zero, and no shorter than window size plus lateness of the windows behind.
    /// `Duration::MAX` remembers for ever.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.operator_mut().ttl = Some(ttl);
        self
    }

    /// The copies that are held back, as a stream of its own.
    pub fn with_duplicates(mut self) -> (Self, Stream<T>) {
        let (port, duplicates) = self.open_port();
        self.operator_mut().duplicates = port;
        (self, duplicates)
    }
}

impl<T, S: Select<T>> Dedup<T, S> {
    fn new(select: S) -> Self {
        let ids = Ids::new(Span::ZERO);
        Dedup { select, ttl: None, ids, clocks: Vec::new(), duplicates: Port::unread(), held_back: 0 }
    }
}

fn described(ttl: Span) -> Vec<String> {
    vec![format!("dedup(ttl = {ttl})")]
}

/// The ttl and the clocks to use; refuses what does not fit.
fn agree(stated: Option<Duration>, clocks: &mut Vec<ClockId>, behind: &Needs, plan: &mut Plan<'_>) -> Option<Span> {
    if !behind.clocks.is_empty() {
        clocks.clone_from(&behind.clocks);
    }
    if clocks.is_empty() {
        let reason =
            "no watermark says when ids can be forgotten: put a stage such as `watermark(delay = 3s)` behind it";
        plan.refuse(Refusal::new("dedup", reason));
    }
    match checked_ttl(stated, behind) {
        Ok(ttl) => Some(ttl),
        Err(reason) => {
            plan.refuse(Refusal::new("dedup", reason));
            None
        }
    }
}

/// The ttl to use, or why there is none.
fn checked_ttl(stated: Option<Duration>, behind: &Needs) -> Result<Span, String> {
    let needed = behind.retention;
    let Some(stated) = stated else {
        return match needed {
            Retention::For(_) if behind.goes_out => Err("some of its events go out without a window, where nothing \
                                                             says for how long copies matter: state a ttl, as in \
                                                             `dedup(id, ttl = 1h)`"
                .to_owned()),
            Retention::For(span) => Ok(span),
            Retention::ForEver => {
                Err("a window behind it may stay open for ever, so no ttl follows from it: state one, as in \
                                           `dedup(id, ttl = 1h)`"
                    .to_owned())
            }
            Retention::Unknown => Err("no window behind it says for how long copies matter: state a ttl, as in \
                                           `dedup(id, ttl = 1h)`"
                .to_owned()),
        };
    };
    let ttl = Span::of(stated);
    if !whole_micros(stated) && stated != Duration::MAX {
        return Err(format!("ttl is {stated:?}, and event time counts whole microseconds"));
    }
    if ttl.is_zero() {
        return Err("ttl must be greater than zero".to_owned());
    }
    match needed {
        Retention::For(span) if ttl < span && span.is_for_ever() => Err(format!(
            "ids are forgotten after {ttl}, but the windows behind take copies for ever: use `ttl = Duration::MAX`, or leave it out"
        )),
        Retention::For(span) if ttl < span => Err(format!(
            "ids are forgotten after {ttl}, but the windows behind take copies for {span}: use `ttl = {span}`, or leave it out"
        )),
        _ => Ok(ttl),
    }
}

impl<T: Data, S: Select<T, Selected: Id>> Operator<T> for Dedup<T, S> {
    type Out = T;

    #[inline]
    fn on_event<P: Push<T>>(&mut self, at: Timestamp, event: T, out: &mut Output<'_, P>) {
        self.ids.forget_due(out.slowest(&self.clocks));
        let id = self.select.select(&event);
        let hash = self.ids.hash(&id);
        if self.ids.contains(hash, &id) {
            self.held_back += 1;
            out.send(&self.duplicates, at, event);
            return;
        }
        let id = id.into_owned();
        // A rejected event moves nothing, so its id is not remembered.
        if out.emit(at, event) == Verdict::Taken {
            self.ids.forget_due(out.slowest(&self.clocks));
            self.ids.remember(hash, id, at);
        }
    }

    fn on_watermark<P: Push<T>>(&mut self, to: Timestamp, out: &mut Output<'_, P>) {
        out.watermark(to);
        self.ids.forget_due(out.slowest(&self.clocks));
    }

    fn upcoming<P: Push<T>>(&mut self, events: &[(Timestamp, T)], out: &mut Output<'_, P>) {
        for (_, event) in events {
            let Some(id) = self.select.peek(event) else { break };
            self.ids.touch(self.ids.hash(id));
        }
        self.ids.touch_oldest(events.len());
        out.upcoming(events);
    }

    fn open(&mut self, upstream: Upstream, _plan: &mut Plan<'_>) -> Upstream {
        self.clocks = upstream.clock.into_iter().collect();
        upstream
    }

    fn prepare(&mut self, behind: Needs, plan: &mut Plan<'_>) -> Needs {
        if let Some(ttl) = agree(self.ttl, &mut self.clocks, &behind, plan) {
            self.ids = Ids::new(ttl);
        }
        behind
    }

    fn ports(&self) -> Ports {
        [self.duplicates.named("duplicates"), None, None]
    }

    fn describe(&self) -> Vec<String> {
        described(self.ids.ttl())
    }

    fn name(&self) -> &'static str {
        "dedup"
    }

    fn count(&self, counters: &mut OperatorCounters) {
        counters.duplicates = self.held_back;
        counters.ids = u64::try_from(self.ids.len()).unwrap_or(u64::MAX);
    }
}

impl<T, S: Select<T>> fmt::Debug for Dedup<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dedup").field("ttl", &self.ttl).finish_non_exhaustive()
    }
}
