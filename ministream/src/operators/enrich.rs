//! `enrich`: puts to each event what a table held at its time.

use std::fmt;
use std::marker::PhantomData;

use super::sides::{Sides, check_late, check_upstream, together};
use crate::counters::OperatorCounters;
use crate::error::Refusal;
use crate::event::{Data, Key};
use crate::held::{Complete, Held};
use crate::operator::{Operator, Output, Port, Ports, Push};
use crate::pane::Late;
use crate::plan::{Needs, Plan, Upstream};
use crate::select::Select;
use crate::state::Map;
use crate::stream::{Boundary, Chain, KeyedStream, NothingBeside, Stream, Then};
use crate::time::Timestamp;

/// See [`KeyedStream::enrich`].
pub struct Enrich<A, B, L: Select<A>, R, O> {
    left_key: L,
    right_key: R,
    /// Events and versions that the watermark has not passed yet.
    held: Held<L::Selected, Sides<A, B>>,
    /// The newest version of each key that it has passed.
    table: Map<L::Selected, B>,
    watermark: Timestamp,
    late_events: Port<Late<A>>,
    late_versions: Port<Late<B>>,
    missing: Port<A>,
    late: u64,
    gives: PhantomData<fn() -> O>,
}

/// What becomes of an event whose key the table does not have.
pub trait MissingChoice<A, B>: Send + 'static {
    /// What the stream carries.
    type Out: 'static;

    /// An event with what the table holds; or the event again.
    fn with(event: A, version: Option<&B>) -> Result<Self::Out, A>;

    /// Whether events can be left over.
    const LEAVES: bool;
}

/// It goes on, with `None`: `(A, Option<B>)`.
#[derive(Debug)]
pub struct KeepMissing;

/// It leaves by a port, or is dropped on purpose: `(A, B)`.
#[derive(Debug)]
pub struct TakeMissing;

impl<A: Data, B: Data> MissingChoice<A, B> for KeepMissing {
    type Out = (A, Option<B>);

    fn with(event: A, version: Option<&B>) -> Result<Self::Out, A> {
        Ok((event, version.cloned()))
    }

    const LEAVES: bool = false;
}

impl<A: Data, B: Data> MissingChoice<A, B> for TakeMissing {
    type Out = (A, B);

    fn with(event: A, version: Option<&B>) -> Result<Self::Out, A> {
        match version {
            Some(version) => Ok((event, version.clone())),
            None => Err(event),
        }
    }

    const LEAVES: bool = true;
}

/// The events of a stream with what a table holds.
pub type Enriched<A, B, L, R, O> =
    Stream<<O as MissingChoice<A, B>>::Out, Then<Sides<A, B>, Boundary<Sides<A, B>>, Enrich<A, B, L, R, O>>>;

impl<A, C, L> KeyedStream<A, C, L>
where
    A: Data,
    C: Chain<A, Side: NothingBeside>,
    L: Select<A, Selected: Key>,
{
    /// Puts to each event what a table held at its time: the version with the same key and the largest timestamp not after
    /// the event's (a temporal join, as in Flink). The table is a keyed stream: each event of it is a new version of its
    /// key.
    ///
    /// An event goes on when the watermark, the smaller of both sides, has passed it, so the results and their order do not
    /// depend on the order of arrival: they come by event time, then by key. Of each key the newest version is kept, and
    /// the older ones only until the watermark has passed them. What comes behind the watermark is late, and leaves by
    /// [`with_late`](Stream::with_late) or [`with_late_versions`](Stream::with_late_versions). A table that falls quiet
    /// holds the events back: see [`set_idle`](crate::Pipeline::set_idle) and
    /// [`advance_input_to`](crate::Pipeline::advance_input_to).
    ///
    /// An event whose key the table does not have leaves by [`with_missing`](Stream::with_missing), or is dropped with
    /// [`discard_missing`](Stream::discard_missing); to let it go on, use
    /// [`enrich_or_none`](KeyedStream::enrich_or_none).
    ///
    /// ```
    /// use ministream::prelude::*;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Clone, Serialize, Deserialize)]
    /// struct Order { currency: String, amount: u64 }
    /// #[derive(Clone, Serialize, Deserialize)]
    /// struct Rate { currency: String, per_mille: u64 }
    ///
    /// fn in_euro(orders: Stream<Order>, rates: Stream<Rate>) -> (Stream<u64>, Stream<Order>) {
    ///     let orders = orders.watermark(Bounded::new(secs(5))).key_by(|order| &order.currency);
    ///     let rates = rates.watermark(Bounded::new(secs(0))).key_by(|rate| &rate.currency);
    ///     let (priced, unknown) = orders.enrich(rates).discard_late().with_missing();
    ///     (priced.map(|(order, rate)| order.amount * rate.per_mille / 1_000).into_streams(), unknown)
    /// }
    /// ```
    pub fn enrich<B, D, R>(self, table: KeyedStream<B, D, R>) -> Enriched<A, B, L, R, TakeMissing>
    where
        B: Data,
        D: Chain<B, Side: NothingBeside>,
        R: Select<B, Selected = L::Selected>,
    {
        Enrich::of(self, table)
    }

    /// As [`enrich`](KeyedStream::enrich); an event whose key the table does not have goes on with `None`.
    pub fn enrich_or_none<B, D, R>(self, table: KeyedStream<B, D, R>) -> Enriched<A, B, L, R, KeepMissing>
    where
        B: Data,
        D: Chain<B, Side: NothingBeside>,
        R: Select<B, Selected = L::Selected>,
    {
        Enrich::of(self, table)
    }
}

impl<A: Data, B: Data, L: Select<A>, R, O: MissingChoice<A, B>> Enriched<A, B, L, R, O> {
    /// The late events, as a stream of its own.
    pub fn with_late(mut self) -> (Self, Stream<Late<A>>) {
        let (port, late) = self.open_port();
        self.operator_mut().late_events = port;
        (self, late)
    }

    /// The versions of the table that come late, as a stream of its own.
    pub fn with_late_versions(mut self) -> (Self, Stream<Late<B>>) {
        let (port, late) = self.open_port();
        self.operator_mut().late_versions = port;
        (self, late)
    }

    /// Drops the late events and versions that are not taken on purpose; they are only counted.
    pub fn discard_late(mut self) -> Self {
        let enrich = self.operator_mut();
        enrich.late_events.decide();
        enrich.late_versions.decide();
        self
    }
}

impl<A: Data, B: Data, L: Select<A>, R> Enriched<A, B, L, R, TakeMissing> {
    /// The events whose key the table does not have, as a stream of its own.
    pub fn with_missing(mut self) -> (Self, Stream<A>) {
        let (port, missing) = self.open_port();
        self.operator_mut().missing = port;
        (self, missing)
    }

    /// Drops the events whose key the table does not have on purpose.
    pub fn discard_missing(mut self) -> Self {
        self.operator_mut().missing.decide();
        self
    }
}

impl<A, B, L, R, O> Enrich<A, B, L, R, O>
where
    A: Data,
    B: Data,
    L: Select<A, Selected: Key>,
    R: Select<B, Selected = L::Selected>,
    O: MissingChoice<A, B>,
{
    fn of<C, D>(left: KeyedStream<A, C, L>, table: KeyedStream<B, D, R>) -> Enriched<A, B, L, R, O>
    where
        C: Chain<A, Side: NothingBeside>,
        D: Chain<B, Side: NothingBeside>,
    {
        let (both, left_key, right_key) = together("enrich", left, table);
        both.operator(Enrich {
            left_key,
            right_key,
            held: Held::new(),
            table: Map::default(),
            watermark: Timestamp::MIN,
            late_events: Port::undecided(),
            late_versions: Port::undecided(),
            missing: Port::undecided(),
            late: 0,
            gives: PhantomData,
        })
    }

    fn advance<P: Push<O::Out>>(&mut self, complete: Complete, out: &mut Output<'_, P>) {
        while self.held.first().is_some_and(|(at, _)| complete.covers(at)) {
            let Some((at, key, both)) = self.held.take_first() else { return };
            let mut events = Vec::new();
            for one in both {
                match one {
                    Sides::Left(event) => events.push(event),
                    Sides::Right(version) => {
                        self.table.insert(key.clone(), version);
                    }
                }
            }
            for event in events {
                match O::with(event, self.table.get(&key)) {
                    Ok(enriched) => {
                        out.emit(at, enriched);
                    }
                    Err(event) => out.send(&self.missing, at, event),
                }
            }
        }
    }
}

impl<A, B, L, R, O> Operator<Sides<A, B>> for Enrich<A, B, L, R, O>
where
    A: Data,
    B: Data,
    L: Select<A, Selected: Key>,
    R: Select<B, Selected = L::Selected>,
    O: MissingChoice<A, B>,
{
    type Out = O::Out;

    fn on_event<P: Push<O::Out>>(&mut self, at: Timestamp, event: Sides<A, B>, out: &mut Output<'_, P>) {
        if at < self.watermark {
            self.late += 1;
            event.send_late(at, self.watermark, (&self.late_events, &self.late_versions), out);
            return;
        }
        let key = event.key(&self.left_key, &self.right_key);
        self.held.hold(at, key, event);
    }

    fn on_watermark<P: Push<O::Out>>(&mut self, to: Timestamp, out: &mut Output<'_, P>) {
        self.watermark = to;
        self.advance(Complete::To(to), out);
        out.watermark(to);
    }

    fn on_end<P: Push<O::Out>>(&mut self, out: &mut Output<'_, P>) {
        self.advance(Complete::Ended, out);
    }

    fn open(&mut self, upstream: Upstream, plan: &mut Plan<'_>) -> Upstream {
        check_upstream("enrich", upstream, plan);
        check_late("enrich", self.late_events.is_decided(), "with_late", plan);
        check_late("enrich", self.late_versions.is_decided(), "with_late_versions", plan);
        if O::LEAVES && !self.missing.is_decided() {
            let reason = "events whose key the table does not have have nowhere to go: take them with `with_missing()`, \
                          drop them with `discard_missing()`, or let them go on with `enrich_or_none`";
            plan.refuse(Refusal::new("enrich", reason));
        }
        upstream
    }

    fn prepare(&mut self, behind: Needs, _plan: &mut Plan<'_>) -> Needs {
        Needs::of_what_is_complete(behind.admits)
    }

    fn ports(&self) -> Ports {
        [self.late_events.named("late"), self.late_versions.named("late_versions"), self.missing.named("missing")]
    }

    fn name(&self) -> &'static str {
        "enrich"
    }

    fn count(&self, counters: &mut OperatorCounters) {
        counters.late = self.late;
        counters.rows = u64::try_from(self.held.len() + self.table.len()).unwrap_or(u64::MAX);
    }
}

impl<A, B, L: Select<A>, R, O> fmt::Debug for Enrich<A, B, L, R, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Enrich")
    }
}
