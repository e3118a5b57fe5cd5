//! What the operators of a graph agree on before it runs.
//!
//! Two passes: downstream, each operator is told what comes in ([`Upstream`]); then upstream, what those behind it need
//! ([`Needs`]). So a `dedup` learns how long the windows behind it can take a copy, and a `watermark` stage which
//! timestamps their windows cannot hold, also where they stand in other functions.

use std::ops::RangeInclusive;

use crate::context::{AnyEdge, ClockId, Context, EdgeId, MergeId};
use crate::error::Refusal;
use crate::operator::Ports;
use crate::span::Span;
use crate::time::Timestamp;

/// What flows out of an operator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Upstream {
    /// The clock that its watermarks go by; None if there are no watermarks.
    pub(crate) clock: Option<ClockId>,
    /// Its events may be corrected by later ones: results of windows with lateness, or with early results.
    pub(crate) corrections: bool,
}

/// What the operators behind a place in the graph need.
#[derive(Clone, Debug)]
pub struct Needs {
    /// For how long after its timestamp an event can change a result.
    pub(crate) retention: Retention,
    /// Some events go out as they are: nothing keeps two copies from counting there.
    pub(crate) goes_out: bool,
    /// The timestamps that have a window.
    pub(crate) admits: RangeInclusive<Timestamp>,
    /// The clocks of the first `watermark` stage on each way.
    pub(crate) clocks: Vec<ClockId>,
}

/// For how long after its timestamp an event can change a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Retention {
    /// No window asks.
    Unknown,
    /// Until the watermark is this much later.
    For(Span),
    /// As long as a session stays open.
    ForEver,
}

impl Default for Needs {
    fn default() -> Self {
        Needs {
            retention: Retention::Unknown,
            goes_out: false,
            admits: Timestamp::MIN..=Timestamp::MAX,
            clocks: Vec::new(),
        }
    }
}

impl Needs {
    /// Of a stage that works on what the watermark says is complete. A copy behind the watermark is late there, so no copy
    /// counts once its id is forgotten.
    pub(crate) fn of_what_is_complete(admits: RangeInclusive<Timestamp>) -> Needs {
        let retention = Retention::For(Span::from_micros(1));
        Needs { retention, admits, clocks: Vec::new(), goes_out: false }
    }

    /// What both need: of two ways that the same events go.
    pub(crate) fn and(mut self, mut other: Needs) -> Needs {
        self.clocks.append(&mut other.clocks);
        self.goes_out |= other.goes_out;
        self.and_port(other)
    }

    /// What the main output and a port need together. A port that carries few events has a slow clock, so the clock is
    /// that of the main output; and late events that go out are no results.
    pub(crate) fn and_port(self, port: Needs) -> Needs {
        let start = *self.admits.start().max(port.admits.start());
        let end = *self.admits.end().min(port.admits.end());
        let retention = self.retention.max(port.retention);
        Needs { retention, admits: start..=end, ..self }
    }
}

/// The plan under work.
#[derive(Debug)]
pub struct Plan<'a> {
    ctx: &'a mut Context,
    edges: Vec<EdgePlan>,
    /// What came in at each merge so far.
    merges: Vec<Vec<Upstream>>,
    refusals: Vec<Refusal>,
}

#[derive(Clone, Debug, Default)]
struct EdgePlan {
    upstream: Upstream,
    needs: Needs,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(ctx: &'a mut Context) -> Self {
        let edges = vec![EdgePlan::default(); ctx.edges().count()];
        let merges = vec![Vec::new(); ctx.merges.len()];
        Plan { ctx, edges, merges, refusals: Vec::new() }
    }

    /// Lets the chains agree. `order` has each edge behind those that lead to it.
    pub(crate) fn agree(mut self, order: &[EdgeId]) -> Vec<Refusal> {
        for &edge in order {
            let upstream = self.edges.get(edge.0).map(|edge| edge.upstream).unwrap_or_default();
            self.with_edge(edge, |edge, plan| edge.open(upstream, plan));
        }
        for &edge in order.iter().rev() {
            let needs = self.with_edge(edge, |edge, plan| edge.prepare(plan)).unwrap_or_default();
            if let Some(edge) = self.edges.get_mut(edge.0) {
                edge.needs = needs;
            }
        }
        self.refusals
    }

    fn with_edge<R>(&mut self, id: EdgeId, f: impl FnOnce(&mut dyn AnyEdge, &mut Self) -> R) -> Option<R> {
        let mut edge = self.ctx.take_edge(id)?;
        let result = f(&mut *edge, self);
        self.ctx.put_edge(id, edge);
        Some(result)
    }

    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        if !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }

    pub(crate) fn refuse_for(&mut self, stage: &str, reasons: Vec<String>) {
        for reason in reasons {
            self.refuse(Refusal::new(stage, reason));
        }
    }

    pub(crate) fn refuse_all(&mut self, refusals: Vec<Refusal>) {
        for refusal in refusals {
            self.refuse(refusal);
        }
    }

    pub(crate) fn add_clock(&mut self) -> ClockId {
        self.ctx.add_clock()
    }

    pub(crate) fn set_upstream(&mut self, edge: EdgeId, upstream: Upstream) {
        if let Some(edge) = self.edges.get_mut(edge.0) {
            edge.upstream = upstream;
        }
    }

    pub(crate) fn set_upstream_of_ports(&mut self, ports: Ports, upstream: Upstream) {
        for (_, edge) in ports.into_iter().flatten() {
            self.set_upstream(edge, upstream);
        }
    }

    /// What is needed behind the main output of an operator, and behind its ports.
    pub(crate) fn with_needs_of_ports(&self, needs: Needs, ports: Ports) -> Needs {
        ports.into_iter().flatten().fold(needs, |needs, (_, edge)| needs.and_port(self.needs(edge)))
    }

    /// One of the inputs of a merge is known; with the last one, so is what leaves by `to`.
    pub(crate) fn merge(&mut self, merge: MergeId, upstream: Upstream, to: EdgeId) {
        let Some(known) = self.merges.get_mut(merge.0) else { return };
        known.push(upstream);
        let Some(state) = self.ctx.merges.get(merge.0).filter(|state| state.inputs() == known.len()) else { return };
        let stage = state.stage;
        let clocks = known.iter().filter(|upstream| upstream.clock.is_some()).count();
        let corrections = known.iter().any(|upstream| upstream.corrections);
        let (inputs, mut clock) = (known.len(), None);
        if clocks > 0 {
            clock = Some(self.ctx.add_clock());
            if let Some(state) = self.ctx.merges.get_mut(merge.0) {
                state.clock = clock;
            }
        }
        if 0 < clocks && clocks < inputs {
            let reason = "some of its streams have a watermark, and others have none: put a stage such as \
                          `watermark(delay = 3s)` in front, for each of them";
            self.refuse(Refusal::new(stage, reason));
        }
        self.set_upstream(to, Upstream { clock, corrections });
    }

    pub(crate) fn needs(&self, edge: EdgeId) -> Needs {
        self.edges.get(edge.0).map(|edge| edge.needs.clone()).unwrap_or_default()
    }
}
