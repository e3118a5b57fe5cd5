//! The contract of operators, and how they are fused into a chain.
//!
//! An [`Operator`] takes events of one type and puts out events of another through [`Output`]. A chain is operators fused
//! one into the next (`Fused`), so that an event goes through all of them in one call that the compiler sees whole; its
//! last link is an edge of the graph (`ToEdge`).

use crate::context::{ClockId, Context, EdgeId};
use crate::counters::OperatorCounters;
use crate::error::Failure;
use crate::event::Data;
use crate::plan::{Needs, Plan, Upstream};
use crate::time::Timestamp;

/// One step of a pipeline as it runs.
///
/// For each event `on_event` is called, and for each move of the watermark `on_watermark`; after `on_end` nothing is
/// called any more. An operator does no I/O, reads no clock and keeps its order of outputs independent of hashes.
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

    /// The stages that this operator runs, as the DSL writes them.
    fn describe(&self) -> Vec<String>;

    /// The name of the DSL's stage, for errors and counters.
    fn name(&self) -> &'static str;

    /// Before the run, upstream first: learns what comes in, says what goes out, refuses what cannot work.
    fn open(&mut self, upstream: Upstream, _plan: &mut Plan<'_>) -> Upstream {
        upstream
    }

    /// Before the run, downstream first: learns what those behind it need, and says what it needs itself.
    fn prepare(&mut self, behind: Needs, _plan: &mut Plan<'_>) -> Needs {
        behind
    }

    /// Its side outputs: a watermark that it passes on reaches them too.
    fn ports(&self) -> &[EdgeId] {
        &[]
    }

    /// The name of its side outputs, as in `d.duplicates`.
    fn port_name(&self) -> &'static str {
        "side output"
    }

    /// Adds its own counts; how much came in and went out is counted already.
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
        fn watermark(&mut self, to: Timestamp, ctx: &mut Context);
        fn end(&mut self, ctx: &mut Context);
        fn open(&mut self, upstream: Upstream, plan: &mut Plan<'_>);
        fn prepare(&mut self, plan: &mut Plan<'_>) -> Needs;
        /// Adds the operators of the chain, and gives the edge it ends in.
        fn describe(&self, chain: &mut Vec<OperatorInfo>) -> EdgeId;
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
    verdict: Verdict,
}

impl<P> Output<'_, P> {
    /// Puts out an event with its event time.
    #[inline]
    pub fn emit<T>(&mut self, at: Timestamp, event: T) -> Verdict
    where
        P: Push<T>,
    {
        let verdict = self.rest.event(at, event, self.ctx);
        self.verdict = if self.emitted == 0 || verdict == Verdict::Taken { verdict } else { self.verdict };
        self.emitted += 1;
        verdict
    }

    /// Passes the watermark on.
    #[inline]
    pub fn watermark<T>(&mut self, to: Timestamp)
    where
        P: Push<T>,
    {
        self.rest.watermark(to, self.ctx);
    }

    /// Reports a result that cannot be given.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.ctx.failures.push(failure);
    }

    /// Says that the event just taken is rejected.
    pub(crate) fn reject(&mut self) {
        self.verdict = Verdict::Rejected;
    }

    pub(crate) fn send<T: Data>(&mut self, port: &Port<T>, at: Timestamp, event: T) {
        if let Some(edge) = port.edge {
            self.ctx.send(edge, at, event);
        }
    }

    pub(crate) fn clock(&self, clock: ClockId) -> Option<Timestamp> {
        self.ctx.clock(clock)
    }

    pub(crate) fn set_clock(&mut self, clock: ClockId, to: Timestamp) {
        self.ctx.set_clock(clock, to);
    }
}

/// A side output of an operator. What is sent to one that nobody reads is only counted.
#[derive(Debug)]
pub struct Port<T> {
    edge: Option<EdgeId>,
    carries: std::marker::PhantomData<fn(T)>,
}

impl<T> Port<T> {
    pub(crate) fn to(edge: EdgeId) -> Self {
        Port { edge: Some(edge), carries: std::marker::PhantomData }
    }

    pub(crate) fn unread() -> Self {
        Port { edge: None, carries: std::marker::PhantomData }
    }

    pub(crate) fn edges(&self) -> &[EdgeId] {
        self.edge.as_slice()
    }
}

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
    #[inline]
    fn call(&mut self, ctx: &mut Context, f: impl FnOnce(&mut O, &mut Output<'_, P>)) -> Verdict {
        let mut out = Output { rest: &mut self.rest, ctx, emitted: 0, verdict: Verdict::Taken };
        f(&mut self.operator, &mut out);
        self.events_out += out.emitted;
        out.verdict
    }
}

impl<T: 'static, O: Operator<T>, P: Push<O::Out>> sealed::Push<T> for Fused<O, P> {
    #[inline]
    fn event(&mut self, at: Timestamp, event: T, ctx: &mut Context) -> Verdict {
        self.events_in += 1;
        self.call(ctx, |operator, out| operator.on_event(at, event, out))
    }

    #[inline]
    fn watermark(&mut self, to: Timestamp, ctx: &mut Context) {
        self.call(ctx, |operator, out| operator.on_watermark(to, out));
        for &edge in self.operator.ports() {
            ctx.send_watermark(edge, to);
        }
    }

    fn end(&mut self, ctx: &mut Context) {
        self.call(ctx, |operator, out| operator.on_end(out));
        for &edge in self.operator.ports() {
            ctx.send_end(edge);
        }
        self.rest.end(ctx);
    }

    fn open(&mut self, upstream: Upstream, plan: &mut Plan<'_>) {
        let upstream = self.operator.open(upstream, plan);
        for &edge in self.operator.ports() {
            plan.set_upstream(edge, upstream);
        }
        self.rest.open(upstream, plan);
    }

    fn prepare(&mut self, plan: &mut Plan<'_>) -> Needs {
        let behind = self.rest.prepare(plan);
        self.operator.prepare(behind, plan)
    }

    fn describe(&self, chain: &mut Vec<OperatorInfo>) -> EdgeId {
        let name = self.name.unwrap_or(self.operator.name());
        let mut counters = OperatorCounters::new(name, self.events_in, self.events_out);
        self.operator.count(&mut counters);
        let mut stages = self.operator.describe();
        if let Some(name) = self.name
            && let Some(last) = stages.last_mut()
        {
            last.push_str(" as ");
            last.push_str(name);
        }
        let ports = self.operator.ports().iter().map(|&edge| (self.operator.port_name(), edge)).collect();
        chain.push(OperatorInfo { stages, counters, ports });
        self.rest.describe(chain)
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
        ctx.send(self.edge, at, event);
        Verdict::Taken
    }

    fn watermark(&mut self, to: Timestamp, ctx: &mut Context) {
        ctx.send_watermark(self.edge, to);
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

    fn describe(&self, _chain: &mut Vec<OperatorInfo>) -> EdgeId {
        self.edge
    }
}
