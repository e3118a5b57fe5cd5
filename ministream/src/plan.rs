//! What the operators of a graph agree on before it runs.
//!
//! Two passes: downstream, each operator is told what comes in ([`Upstream`]); then upstream, what those behind it need
//! ([`Needs`]). So a `dedup` learns how long the windows behind it can take a copy, and a `watermark` stage which
//! timestamps their windows cannot hold, also where they stand in other functions.

use std::ops::RangeInclusive;

use crate::context::{ClockId, Context, EdgeId};
use crate::error::Refusal;
use crate::span::Span;
use crate::time::Timestamp;

/// What flows out of an operator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Upstream {
    /// The clock that its watermarks go by; None if there are no watermarks.
    pub(crate) clock: Option<ClockId>,
    /// Its events may be corrected by later ones: results of windows with lateness.
    pub(crate) corrections: bool,
}

/// What the operators behind a place in the graph need.
#[derive(Clone, Debug)]
pub struct Needs {
    /// For how long after its timestamp an event can change a result.
    pub(crate) retention: Retention,
    /// The timestamps that have a window.
    pub(crate) admits: RangeInclusive<Timestamp>,
    /// The clock of the first `watermark` stage.
    pub(crate) clock: Option<ClockId>,
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
        Needs { retention: Retention::Unknown, admits: Timestamp::MIN..=Timestamp::MAX, clock: None }
    }
}

/// The plan under work.
#[derive(Debug)]
pub struct Plan<'a> {
    ctx: &'a mut Context,
    edges: Vec<EdgePlan>,
    refusals: Vec<Refusal>,
}

#[derive(Clone, Debug, Default)]
struct EdgePlan {
    upstream: Upstream,
    needs: Needs,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(ctx: &'a mut Context, edges: usize) -> Self {
        Plan { ctx, edges: vec![EdgePlan::default(); edges], refusals: Vec::new() }
    }

    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        if !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }

    pub(crate) fn add_clock(&mut self) -> ClockId {
        self.ctx.add_clock()
    }

    pub(crate) fn upstream(&self, edge: EdgeId) -> Upstream {
        self.edges.get(edge.0).map(|edge| edge.upstream).unwrap_or_default()
    }

    pub(crate) fn set_upstream(&mut self, edge: EdgeId, upstream: Upstream) {
        if let Some(edge) = self.edges.get_mut(edge.0) {
            edge.upstream = upstream;
        }
    }

    pub(crate) fn needs(&self, edge: EdgeId) -> Needs {
        self.edges.get(edge.0).map(|edge| edge.needs.clone()).unwrap_or_default()
    }

    pub(crate) fn set_needs(&mut self, edge: EdgeId, needs: Needs) {
        if let Some(edge) = self.edges.get_mut(edge.0) {
            edge.needs = needs;
        }
    }

    pub(crate) fn into_refusals(self) -> Vec<Refusal> {
        self.refusals
    }
}
