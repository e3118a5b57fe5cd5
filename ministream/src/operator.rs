//! The contract of operators, and how they are fused into a chain.
//!
//! An [`Operator`] takes events of one type and puts out events of another through [`Output`]. A chain is operators fused
//! one into the next (`Fused`), so that an event goes through all of them in one call that the compiler sees whole; its
//! last link is an edge of the graph (`ToEdge`).

use std::collections::VecDeque;
use std::mem;

mod keyed;

pub use self::keyed::{KeyedOperator, Turn};
use crate::context::{ClockId, Context, EdgeId, Merge, MergeId, ToPorts, Together};
use crate::counters::OperatorCounters;
use crate::error::Failure;
use crate::event::Data;
use crate::plan::{Needs, Plan, Upstream};
use crate::time::Timestamp;

/// One step of a pipeline as it runs.
///
/// For each event `on_event` is called, and for each move of the watermark `on_watermark`; after `on_end` nothing is
/// called any more. An operator does no I/O, reads no clock and keeps its order of outputs independent of hashes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operator over events of type `{T}`",
    label = "not an operator for this stream",
    note = "write `impl Operator<{T}> for {Self}`; one with state for each key stands behind a `key_by`, and is a `KeyedOperator`"
)]
pub trait Operator<T>: Send + 'static {
    /// What it puts out.
    type Out;

    /// Takes one event.
    fn on_event<P: Push<Self::Out>>(&mut self, at: Timestamp, event: T, out: &mut Output<'_, P>);

    /// Takes a move of the watermark, which is later than all before it, and passes it on.
    fn on_watermark<P: Push<Self::Out>>(&mut self, to: Timestamp, out: &mut Output<'_, P>) {
        out.watermark(to);
    }

    /// The input has ended: puts out what is left.
    fn on_end<P: Push<Self::Out>>(&mut self, _out: &mut Output<'_, P>) {}

    /// Learns which events come next, if it is a batch: time to bring near what they will need. Changes nothing. One that
    /// puts out what it takes passes them on.
    #[doc(hidden)]
    fn upcoming<P: Push<Self::Out>>(&mut self, _events: &[(Timestamp, T)], _out: &mut Output<'_, P>) {}

    /// The name of the stage, for errors, counters and descriptions.
    fn name(&self) -> &'static str;

    /// The stages that this operator runs, as the DSL writes them; its name if not said.
    fn describe(&self) -> Vec<String> {
        vec![self.name().to_owned()]
    }

    /// Before the run, upstream first: learns what comes in, says what goes out, refuses what cannot work.
    #[doc(hidden)]
    fn open(&mut self, upstream: Upstream, _plan: &mut Plan<'_>) -> Upstream {
        upstream
    }

    /// Before the run, downstream first: learns what those behind it need, and says what it needs itself.
    #[doc(hidden)]
    fn prepare(&mut self, behind: Needs, _plan: &mut Plan<'_>) -> Needs {
        behind
    }

    /// Its side outputs that are read, with their names, as in `d.duplicates`. A watermark that it passes on reaches them
    /// too.
    #[doc(hidden)]
    fn ports(&self) -> Ports {
        Ports::default()
    }

    /// Adds its own counts; how much came in and went out is counted already.
    #[doc(hidden)]
    fn count(&self, _counters: &mut OperatorCounters) {}
}

/// What an operator hands its results to: the rest of the chain.
///
/// Its methods are not public: users of the crate build chains, and never call them.
pub trait Push<T>: Send + 'static + sealed::Push<T> {}

impl<T, P: Send + 'static + sealed::Push<T>> Push<T> for P {}

pub(crate) mod sealed {
    use super::*;

    pub trait Push<T> {
        fn event(&mut self, at: Timestamp, event: T, ctx: &mut Context) -> Verdict;
        /// Takes several events, one after the other, and leaves the list empty. They are rejected where none is taken.
        fn events(&mut self, events: &mut Vec<(Timestamp, T)>, ctx: &mut Context) -> Option<Verdict> {
            let mut all = None;
            for (at, event) in events.drain(..) {
                all = Verdict::of_either(all, Some(self.event(at, event, ctx)));
            }
            all
        }
        /// These events come next: time to bring near what they will need.
        fn upcoming(&mut self, events: &[(Timestamp, T)], ctx: &mut Context);
        /// The output that events go to, if they go there and nowhere else.
        fn lend(&mut self, _ctx: &mut Context) -> Option<VecDeque<T>> {
            None
        }
        fn give_back(&mut self, _output: VecDeque<T>, _ctx: &mut Context) {}
        fn watermark(&mut self, to: Timestamp, ctx: &mut Context);
        /// The input falls quiet: it holds nothing back until something comes again.
        fn idle(&mut self, ctx: &mut Context);
        fn end(&mut self, ctx: &mut Context);
        fn open(&mut self, upstream: Upstream, plan: &mut Plan<'_>);
        fn prepare(&mut self, plan: &mut Plan<'_>) -> Needs;
        /// Adds the operators of the chain, and says where it ends.
        fn describe(&self, chain: &mut ChainInfo);
    }
}

/// What became of an event behind the operator that put it out.
///
/// A rejected event moves nothing, so an operator that stands in front of the one that rejects must not remember it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was counted, or is late, or was filtered out.
    Taken,
    /// It left by the `rejected` port.
    Rejected,
}

impl Verdict {
    /// Of an event that went two ways: it is rejected where none took it.
    #[inline]
    pub(crate) fn of_either(one: Option<Verdict>, other: Option<Verdict>) -> Option<Verdict> {
        match (one, other) {
            (Some(Verdict::Taken), _) | (_, Some(Verdict::Taken)) => Some(Verdict::Taken),
            (one, other) => one.or(other),
        }
    }
}

/// What a chain tells of itself: its operators, upstream first, and the edge that it ends in.
#[derive(Debug)]
pub struct ChainInfo {
    pub(crate) operators: Vec<OperatorInfo>,
    pub(crate) end: EdgeId,
    /// It ends in that edge together with others.
    pub(crate) merge: Option<MergeId>,
}

impl ChainInfo {
    pub(crate) fn of<T>(chain: &dyn Push<T>) -> Self {
        let mut info = ChainInfo { operators: Vec::new(), end: EdgeId(usize::MAX), merge: None };
        chain.describe(&mut info);
        info
    }
}

impl ChainInfo {
    fn add(
        &mut self,
        stage: &str,
        name: Option<&str>,
        [events_in, events_out]: [u64; 2],
        info: &dyn Fn(&mut OperatorCounters) -> (Vec<String>, Ports),
    ) {
        let mut counters = OperatorCounters::new(name.unwrap_or(stage), events_in, events_out);
        let (mut stages, ports) = info(&mut counters);
        if let (Some(name), Some(last)) = (name, stages.last_mut()) {
            last.push_str(" as ");
            last.push_str(name);
        }
        self.operators.push(OperatorInfo { stages, counters, ports: ports.into_iter().flatten().collect() });
    }
}

/// What one operator tells of itself.
#[derive(Debug)]
pub struct OperatorInfo {
    pub(crate) stages: Vec<String>,
    pub(crate) counters: OperatorCounters,
    pub(crate) ports: Vec<(&'static str, EdgeId)>,
}

/// Where an operator puts its results, and what it may touch beside.
#[derive(Debug)]
pub struct Output<'a, P> {
    rest: &'a mut P,
    ctx: &'a mut Context,
    emitted: u64,
    verdict: Option<Verdict>,
    /// The watermark that was passed on.
    advanced: Option<Timestamp>,
}

impl<P> Output<'_, P> {
    /// Puts out an event with its event time.
    #[inline]
    pub fn emit<T>(&mut self, at: Timestamp, event: T) -> Verdict
    where
        P: Push<T>,
    {
        let verdict = self.rest.event(at, event, self.ctx);
        self.verdict = Verdict::of_either(self.verdict, Some(verdict));
        self.emitted += 1;
        verdict
    }

    /// Puts out several events, and leaves the list empty.
    #[inline]
    pub(crate) fn emit_all<T>(&mut self, events: &mut Vec<(Timestamp, T)>)
    where
        P: Push<T>,
    {
        self.emitted += events.len() as u64;
        let verdict = self.rest.events(events, self.ctx);
        self.verdict = Verdict::of_either(self.verdict, verdict);
    }

    /// What waits for the caller of the pipeline, if what is put out goes there and nowhere else. It has to be
    /// [given back](Self::give_back).
    pub(crate) fn lend<T>(&mut self) -> Option<VecDeque<T>>
    where
        P: Push<T>,
    {
        let output = self.rest.lend(self.ctx)?;
        self.emitted = self.emitted.wrapping_sub(output.len() as u64);
        Some(output)
    }

    /// Takes the output back, with what was added to it.
    pub(crate) fn give_back<T>(&mut self, output: VecDeque<T>)
    where
        P: Push<T>,
    {
        self.emitted = self.emitted.wrapping_add(output.len() as u64);
        self.rest.give_back(output, self.ctx);
    }

    /// Says that these events come next.
    pub(crate) fn upcoming<T>(&mut self, events: &[(Timestamp, T)])
    where
        P: Push<T>,
    {
        self.rest.upcoming(events, self.ctx);
    }

    /// Passes the watermark on.
    #[inline]
    pub fn watermark<T>(&mut self, to: Timestamp)
    where
        P: Push<T>,
    {
        self.rest.watermark(to, self.ctx);
        self.advanced = Some(to);
    }

    /// Reports a result that cannot be given.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.ctx.failures.push(failure);
    }

    /// Says that the event just taken is rejected.
    pub(crate) fn reject(&mut self) {
        self.verdict = Some(Verdict::Rejected);
    }

    /// Puts out an event by a port.
    pub(crate) fn send<T: Data>(&mut self, port: &Port<T>, at: Timestamp, event: T) {
        if let Some(edge) = port.edge {
            self.ctx.send(edge, at, event);
        }
    }

    /// Puts out an event by a port rather than by the main output: what becomes of it there counts.
    pub(crate) fn divert<T: Data>(&mut self, port: &Port<T>, at: Timestamp, event: T) {
        if let Some(edge) = port.edge {
            let verdict = self.ctx.send(edge, at, event);
            self.verdict = Verdict::of_either(self.verdict, Some(verdict));
        }
    }

    /// The smallest of these watermarks; [`Timestamp::MIN`] before all of them have begun.
    #[inline]
    pub(crate) fn slowest(&self, clocks: &[ClockId]) -> Timestamp {
        self.ctx.slowest(clocks)
    }

    pub(crate) fn set_clock(&mut self, clock: ClockId, to: Timestamp) {
        self.ctx.set_clock(clock, to);
    }
}

/// A side output of an operator. What is sent to one that nobody reads is only counted.
#[derive(Debug)]
pub struct Port<T> {
    edge: Option<EdgeId>,
    /// The user has said what becomes of it.
    decided: bool,
    carries: std::marker::PhantomData<fn(T)>,
}

impl<T> Port<T> {
    pub(crate) fn to(edge: EdgeId) -> Self {
        Port { edge: Some(edge), decided: true, carries: std::marker::PhantomData }
    }

    pub(crate) fn unread() -> Self {
        Port { edge: None, decided: true, carries: std::marker::PhantomData }
    }

    /// One that the user has to say something about.
    pub(crate) fn undecided() -> Self {
        Port { edge: None, decided: false, carries: std::marker::PhantomData }
    }

    /// What is sent to it is dropped on purpose, if nobody reads it.
    pub(crate) fn decide(&mut self) {
        self.decided = true;
    }

    pub(crate) fn is_decided(&self) -> bool {
        self.decided
    }

    /// The port under its name, if it is read.
    pub(crate) fn named(&self, name: &'static str) -> Option<(&'static str, EdgeId)> {
        self.edge.map(|edge| (name, edge))
    }
}

/// The side outputs of an operator that are read.
pub type Ports = [Option<(&'static str, EdgeId)>; 3];

/// An operator and the rest of its chain.
#[derive(Debug)]
pub(crate) struct Fused<O, P> {
    pub(crate) operator: O,
    pub(crate) rest: P,
    pub(crate) name: Option<&'static str>,
    pub(crate) events_in: u64,
    pub(crate) events_out: u64,
}

impl<O, P> Fused<O, P> {
    /// Calls the operator. A watermark that it passes on reaches its ports, too.
    #[inline]
    fn call<T>(&mut self, ctx: &mut Context, f: impl FnOnce(&mut O, &mut Output<'_, P>)) -> Verdict
    where
        O: Operator<T>,
    {
        let mut out = Output { rest: &mut self.rest, ctx, emitted: 0, verdict: None, advanced: None };
        f(&mut self.operator, &mut out);
        let (verdict, advanced) = (out.verdict, out.advanced);
        self.events_out += out.emitted;
        if let Some(to) = advanced {
            let ports = self.operator.ports();
            // Hardly any operator has one that is read.
            if ports.iter().any(Option::is_some) {
                ctx.send_to_ports(ports, ToPorts::Watermark(to));
            }
        }
        verdict.unwrap_or(Verdict::Taken)
    }
}

impl<T: 'static, O: Operator<T>, P: Push<O::Out>> sealed::Push<T> for Fused<O, P> {
    #[inline]
    fn event(&mut self, at: Timestamp, event: T, ctx: &mut Context) -> Verdict {
        self.events_in += 1;
        self.call(ctx, |operator, out| operator.on_event(at, event, out))
    }

    fn upcoming(&mut self, events: &[(Timestamp, T)], ctx: &mut Context) {
        let Fused { operator, rest, .. } = self;
        operator.upcoming(events, &mut Output { rest, ctx, emitted: 0, verdict: None, advanced: None });
    }

    #[inline]
    fn watermark(&mut self, to: Timestamp, ctx: &mut Context) {
        self.call(ctx, |operator, out| operator.on_watermark(to, out));
    }

    fn idle(&mut self, ctx: &mut Context) {
        ctx.send_to_ports(self.operator.ports(), ToPorts::Idle);
        self.rest.idle(ctx);
    }

    fn end(&mut self, ctx: &mut Context) {
        self.call(ctx, |operator, out| operator.on_end(out));
        ctx.send_to_ports(self.operator.ports(), ToPorts::End);
        self.rest.end(ctx);
    }

    fn open(&mut self, upstream: Upstream, plan: &mut Plan<'_>) {
        let outgoing = self.operator.open(upstream, plan);
        // By a port leaves what came in, beside the watermark that the operator passes on.
        plan.set_upstream_of_ports(self.operator.ports(), Upstream { clock: outgoing.clock, ..upstream });
        self.rest.open(outgoing, plan);
    }

    fn prepare(&mut self, plan: &mut Plan<'_>) -> Needs {
        let behind = self.rest.prepare(plan);
        let needs = self.operator.prepare(behind, plan);
        plan.with_needs_of_ports(needs, self.operator.ports())
    }

    fn describe(&self, chain: &mut ChainInfo) {
        let info = |counters: &mut OperatorCounters| {
            self.operator.count(counters);
            (self.operator.describe(), self.operator.ports())
        };
        chain.add(self.operator.name(), self.name, [self.events_in, self.events_out], &info);
        self.rest.describe(chain);
    }
}

/// The last link of a chain: an edge of the graph.
#[derive(Debug)]
pub(crate) struct ToEdge {
    pub(crate) edge: EdgeId,
}

impl<T: Data> sealed::Push<T> for ToEdge {
    #[inline]
    fn event(&mut self, at: Timestamp, event: T, ctx: &mut Context) -> Verdict {
        ctx.send(self.edge, at, event)
    }

    fn events(&mut self, events: &mut Vec<(Timestamp, T)>, ctx: &mut Context) -> Option<Verdict> {
        ctx.send_all(self.edge, events)
    }

    fn lend(&mut self, ctx: &mut Context) -> Option<VecDeque<T>> {
        ctx.output(self.edge).map(mem::take)
    }

    fn give_back(&mut self, output: VecDeque<T>, ctx: &mut Context) {
        if let Some(place) = ctx.output(self.edge) {
            *place = output;
        }
    }

    fn upcoming(&mut self, events: &[(Timestamp, T)], ctx: &mut Context) {
        ctx.send_upcoming(self.edge, events);
    }

    fn watermark(&mut self, to: Timestamp, ctx: &mut Context) {
        ctx.send_watermark(self.edge, to);
    }

    fn idle(&mut self, ctx: &mut Context) {
        ctx.send_idle(self.edge);
    }

    fn end(&mut self, ctx: &mut Context) {
        ctx.send_end(self.edge);
    }

    fn open(&mut self, upstream: Upstream, plan: &mut Plan<'_>) {
        plan.set_upstream(self.edge, upstream);
    }

    fn prepare(&mut self, plan: &mut Plan<'_>) -> Needs {
        plan.needs(self.edge)
    }

    fn describe(&self, chain: &mut ChainInfo) {
        chain.end = self.edge;
    }
}

/// The last link of a chain that becomes one stream with others: what `into` makes of each event goes on the edge that all
/// of them share.
pub(crate) struct ToMerge<F> {
    pub(crate) merge: MergeId,
    pub(crate) input: usize,
    pub(crate) edge: EdgeId,
    pub(crate) into: F,
}

impl<F> ToMerge<F> {
    fn together(&self, ctx: &mut Context, change: impl FnOnce(&mut Merge) -> Together) {
        let Some(merge) = ctx.merges.get_mut(self.merge.0) else { return };
        let together = change(merge);
        let clock = merge.clock;
        match together {
            Together::Nothing => {}
            Together::Watermark(to) => {
                if let Some(clock) = clock {
                    ctx.set_clock(clock, to);
                }
                ctx.send_watermark(self.edge, to);
            }
            Together::Idle => ctx.send_idle(self.edge),
            Together::End => ctx.send_end(self.edge),
        }
    }
}

impl<T: 'static, U: Data, F: Fn(T) -> U + Send + 'static> sealed::Push<T> for ToMerge<F> {
    fn event(&mut self, at: Timestamp, event: T, ctx: &mut Context) -> Verdict {
        if let Some(merge) = ctx.merges.get_mut(self.merge.0) {
            merge.wake(self.input);
        }
        ctx.send(self.edge, at, (self.into)(event))
    }

    fn upcoming(&mut self, _events: &[(Timestamp, T)], _ctx: &mut Context) {}

    fn watermark(&mut self, to: Timestamp, ctx: &mut Context) {
        self.together(ctx, |merge| merge.advance(self.input, to));
    }

    fn idle(&mut self, ctx: &mut Context) {
        self.together(ctx, |merge| merge.set_idle(self.input));
    }

    fn end(&mut self, ctx: &mut Context) {
        self.together(ctx, |merge| merge.finish(self.input));
    }

    fn open(&mut self, upstream: Upstream, plan: &mut Plan<'_>) {
        plan.merge(self.merge, upstream, self.edge);
    }

    fn prepare(&mut self, plan: &mut Plan<'_>) -> Needs {
        plan.needs(self.edge)
    }

    fn describe(&self, chain: &mut ChainInfo) {
        chain.end = self.edge;
        chain.merge = Some(self.merge);
    }
}
