//! What all chains of a running pipeline share: the edges between them, the clocks, and the failures of one call.
//!
//! An edge owns the chain that reads it. Whoever puts an event on an edge runs that chain at once, so an event goes all the
//! way before the next one is looked at, and what became of it is known where it came from.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;

use crate::error::Failure;
use crate::event::Data;
use crate::operator::{ChainInfo, Ports, Push, Verdict};
use crate::plan::{Needs, Plan, Upstream};
use crate::time::Timestamp;
use crate::watermark::{Part, furthest};

/// Names an edge of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EdgeId(pub(crate) usize);

/// Names a clock: the watermark that one `watermark` stage makes, or that several streams have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockId(usize);

/// Names a place where several streams become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MergeId(pub(crate) usize);

/// The edges, clocks and failures of a pipeline.
#[derive(Debug, Default)]
pub struct Context {
    /// None while the chain that reads the edge runs. No chain leads back to itself, so nobody asks for it then.
    edges: Vec<Option<Box<dyn AnyEdge>>>,
    /// Edges with nobody behind them who wants to know of watermarks: outputs, and what is discarded.
    is_rim: Vec<bool>,
    clocks: Vec<Option<Timestamp>>,
    pub(crate) merges: Vec<Merge>,
    pub(crate) failures: Vec<Failure>,
    /// Something lies in an output.
    pub(crate) has_results: bool,
}

impl Context {
    pub(crate) fn add_edge<T: Data>(&mut self) -> EdgeId {
        self.edges.push(Some(Box::new(Edge::<T> { reader: Reader::Nobody, copies: Vec::new(), batch: Vec::new() })));
        EdgeId(self.edges.len() - 1)
    }

    /// Nothing is added to the graph any more.
    pub(crate) fn settle(&mut self) {
        let is_rim =
            |edge: &Option<Box<dyn AnyEdge>>| edge.as_ref().is_some_and(|edge| edge.info().writes().is_empty());
        self.is_rim = self.edges.iter().map(is_rim).collect();
    }

    pub(crate) fn add_clock(&mut self) -> ClockId {
        self.clocks.push(None);
        ClockId(self.clocks.len() - 1)
    }

    pub(crate) fn add_merge(&mut self, merge: Merge) -> MergeId {
        self.merges.push(merge);
        MergeId(self.merges.len() - 1)
    }

    /// The watermark of a clock; None before its first event.
    #[inline]
    pub(crate) fn clock(&self, clock: ClockId) -> Option<Timestamp> {
        self.clocks.get(clock.0).copied().flatten()
    }

    /// The smallest of these watermarks; [`Timestamp::MIN`] before all of them have begun.
    #[inline]
    pub(crate) fn slowest(&self, clocks: &[ClockId]) -> Timestamp {
        let watermarks = clocks.iter().map(|&clock| self.clock(clock));
        watermarks.min().flatten().unwrap_or(Timestamp::MIN)
    }

    #[inline]
    pub(crate) fn set_clock(&mut self, clock: ClockId, to: Timestamp) {
        if let Some(clock) = self.clocks.get_mut(clock.0) {
            *clock = Some(to);
        }
    }

    /// The smallest of all clocks; None if one has not started.
    pub(crate) fn watermark(&self) -> Option<Timestamp> {
        self.clocks.iter().copied().min().flatten()
    }

    pub(crate) fn edges(&self) -> impl Iterator<Item = (EdgeId, &dyn AnyEdge)> {
        (0..).map(EdgeId).zip(&self.edges).filter_map(|(id, edge)| Some((id, edge.as_deref()?)))
    }

    /// Calls `f` with the edge and what remains of the context.
    #[inline]
    pub(crate) fn with_edge<R>(
        &mut self,
        id: EdgeId,
        f: impl FnOnce(&mut dyn AnyEdge, &mut Context) -> R,
    ) -> Option<R> {
        let Some(mut edge) = self.take_edge(id) else {
            self.failures.push(Failure::internal("an edge that does not exist, or leads back to itself"));
            return None;
        };
        let result = f(&mut *edge, self);
        self.put_edge(id, edge);
        Some(result)
    }

    #[inline]
    pub(crate) fn take_edge(&mut self, id: EdgeId) -> Option<Box<dyn AnyEdge>> {
        self.edges.get_mut(id.0).and_then(Option::take)
    }

    #[inline]
    pub(crate) fn put_edge(&mut self, id: EdgeId, edge: Box<dyn AnyEdge>) {
        if let Some(place) = self.edges.get_mut(id.0) {
            *place = Some(edge);
        }
    }

    /// As [`with_edge`](Context::with_edge), with the edge's type, which is kept beside its id wherever that is.
    #[inline]
    pub(crate) fn with<T: Data, R>(
        &mut self,
        id: EdgeId,
        f: impl FnOnce(&mut Edge<T>, &mut Context) -> R,
    ) -> Option<R> {
        self.with_edge(id, |edge, ctx| match edge.as_any().downcast_mut() {
            Some(edge) => Some(f(edge, ctx)),
            None => {
                ctx.failures.push(Failure::internal(WRONG_TYPE));
                None
            }
        })
        .flatten()
    }

    #[inline]
    pub(crate) fn send<T: Data>(&mut self, edge: EdgeId, at: Timestamp, event: T) -> Verdict {
        if self.is_rim.get(edge.0).is_some_and(|is_rim| *is_rim) {
            self.hand_out(edge, std::iter::once(event));
            return Verdict::Taken;
        }
        self.with(edge, |edge, ctx| edge.event(at, event, ctx)).unwrap_or(Verdict::Taken)
    }

    /// As [`send`](Context::send), for several events one after the other; leaves the list empty.
    pub(crate) fn send_all<T: Data>(&mut self, edge: EdgeId, events: &mut Vec<(Timestamp, T)>) -> Option<Verdict> {
        if self.is_rim.get(edge.0).is_some_and(|is_rim| *is_rim) {
            self.hand_out(edge, events.drain(..).map(|(_, event)| event));
            return Some(Verdict::Taken);
        }
        self.with(edge, |edge, ctx| edge.events(events, ctx)).flatten()
    }

    pub(crate) fn send_upcoming<T: Data>(&mut self, edge: EdgeId, events: &[(Timestamp, T)]) {
        if self.is_rim.get(edge.0).is_some_and(|is_rim| *is_rim) {
            return;
        }
        self.with(edge, |edge, ctx| edge.upcoming(events, ctx));
    }

    /// Puts events on an edge that no chain reads.
    #[inline]
    fn hand_out<T: Data>(&mut self, edge: EdgeId, events: impl Iterator<Item = T>) {
        let edge = self.edges.get_mut(edge.0).and_then(Option::as_mut);
        match edge.and_then(|edge| edge.as_any().downcast_mut::<Edge<T>>()) {
            Some(Edge { reader: Reader::Output { results, .. }, .. }) => {
                self.has_results = true;
                results.extend(events);
            }
            // Nobody wants it.
            Some(_) => {}
            None => self.failures.push(Failure::internal(WRONG_TYPE)),
        }
    }

    /// What waits at an edge for the caller of the pipeline, if nobody else reads it. Something will be added.
    pub(crate) fn output<T: Data>(&mut self, edge: EdgeId) -> Option<&mut VecDeque<T>> {
        if !self.is_rim.get(edge.0).is_some_and(|is_rim| *is_rim) {
            return None;
        }
        let edge = self.edges.get_mut(edge.0).and_then(Option::as_mut)?;
        match edge.as_any().downcast_mut()? {
            Edge { reader: Reader::Output { results, .. }, .. } => {
                self.has_results = true;
                Some(results)
            }
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn send_watermark(&mut self, edge: EdgeId, to: Timestamp) {
        if self.is_rim.get(edge.0).is_some_and(|is_rim| *is_rim) {
            return;
        }
        self.with_edge(edge, |edge, ctx| edge.watermark(to, ctx));
    }

    pub(crate) fn send_idle(&mut self, edge: EdgeId) {
        self.with_edge(edge, |edge, ctx| edge.idle(ctx));
    }

    /// Tells all ports of an operator. Here and not with the operators, so that it is compiled once.
    pub(crate) fn send_to_ports(&mut self, ports: Ports, what: ToPorts) {
        for (_, edge) in ports.into_iter().flatten() {
            match what {
                ToPorts::Watermark(to) => self.send_watermark(edge, to),
                ToPorts::Idle => self.send_idle(edge),
                ToPorts::End => self.send_end(edge),
            }
        }
    }

    pub(crate) fn send_end(&mut self, edge: EdgeId) {
        self.with_edge(edge, |edge, ctx| edge.end(ctx));
    }
}

const WRONG_TYPE: &str = "an edge does not carry the type that was put on it";

/// What the side outputs of an operator are told.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ToPorts {
    Watermark(Timestamp),
    Idle,
    End,
}

/// Carries events from those that put them on it to the one that reads it, and to its copies.
pub(crate) struct Edge<T> {
    pub(crate) reader: Reader<T>,
    /// Edges that get a clone of everything, before the reader does.
    pub(crate) copies: Vec<EdgeId>,
    /// Room for the events of a source that are about to be put on it.
    pub(crate) batch: Vec<(Timestamp, T)>,
}

/// Who takes what is put on an edge.
pub(crate) enum Reader<T> {
    Nobody,
    Chain(Box<dyn Push<T>>),
    /// The caller of the pipeline: its output with this number, from 0.
    Output {
        number: usize,
        results: VecDeque<T>,
    },
    /// The user says that it is not wanted.
    Discarded,
}

impl<T: Data> Edge<T> {
    #[inline]
    pub(crate) fn event(&mut self, at: Timestamp, event: T, ctx: &mut Context) -> Verdict {
        let mut of_copies = None;
        for &copy in &self.copies {
            let verdict = ctx.send(copy, at, event.clone());
            of_copies = Verdict::of_either(of_copies, Some(verdict));
        }
        let own = match &mut self.reader {
            Reader::Chain(chain) => Some(chain.event(at, event, ctx)),
            Reader::Output { results, .. } => {
                ctx.has_results = true;
                results.push_back(event);
                Some(Verdict::Taken)
            }
            Reader::Nobody | Reader::Discarded => None,
        };
        Verdict::of_either(of_copies, own).unwrap_or(Verdict::Taken)
    }

    /// Takes several events, one after the other, and leaves the list empty.
    pub(crate) fn events(&mut self, events: &mut Vec<(Timestamp, T)>, ctx: &mut Context) -> Option<Verdict> {
        if let (Reader::Chain(chain), []) = (&mut self.reader, &*self.copies) {
            return chain.events(events, ctx);
        }
        let mut all = None;
        for (at, event) in events.drain(..) {
            all = Verdict::of_either(all, Some(self.event(at, event, ctx)));
        }
        all
    }

    pub(crate) fn upcoming(&mut self, events: &[(Timestamp, T)], ctx: &mut Context) {
        for &copy in &self.copies {
            ctx.send_upcoming(copy, events);
        }
        if let Reader::Chain(chain) = &mut self.reader {
            chain.upcoming(events, ctx);
        }
    }
}

/// An edge whatever it carries.
pub(crate) trait AnyEdge: Send {
    fn as_any(&mut self) -> &mut dyn Any;
    fn watermark(&mut self, to: Timestamp, ctx: &mut Context);
    fn idle(&mut self, ctx: &mut Context);
    fn end(&mut self, ctx: &mut Context);
    fn open(&mut self, upstream: Upstream, plan: &mut Plan<'_>);
    fn prepare(&mut self, plan: &mut Plan<'_>) -> Needs;
    fn info(&self) -> EdgeInfo;
}

/// What an edge tells of itself.
#[derive(Debug)]
pub(crate) struct EdgeInfo {
    pub(crate) type_name: String,
    pub(crate) reader: ReaderInfo,
    pub(crate) copies: Vec<EdgeId>,
}

#[derive(Debug)]
pub(crate) enum ReaderInfo {
    Nobody,
    Chain(ChainInfo),
    Output(usize),
    Discarded,
}

impl EdgeInfo {
    /// The edges that events go to from here.
    pub(crate) fn writes(&self) -> Vec<EdgeId> {
        let mut edges = self.copies.clone();
        if let ReaderInfo::Chain(chain) = &self.reader {
            edges.extend(chain.operators.iter().flat_map(|operator| &operator.ports).map(|&(_, edge)| edge));
            edges.push(chain.end);
        }
        edges
    }
}

impl<T: Data> AnyEdge for Edge<T> {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn watermark(&mut self, to: Timestamp, ctx: &mut Context) {
        for &copy in &self.copies {
            ctx.send_watermark(copy, to);
        }
        if let Reader::Chain(chain) = &mut self.reader {
            chain.watermark(to, ctx);
        }
    }

    fn idle(&mut self, ctx: &mut Context) {
        for &copy in &self.copies {
            ctx.send_idle(copy);
        }
        if let Reader::Chain(chain) = &mut self.reader {
            chain.idle(ctx);
        }
    }

    fn end(&mut self, ctx: &mut Context) {
        for &copy in &self.copies {
            ctx.send_end(copy);
        }
        if let Reader::Chain(chain) = &mut self.reader {
            chain.end(ctx);
        }
    }

    fn open(&mut self, upstream: Upstream, plan: &mut Plan<'_>) {
        for &copy in &self.copies {
            plan.set_upstream(copy, upstream);
        }
        if let Reader::Chain(chain) = &mut self.reader {
            chain.open(upstream, plan);
        }
    }

    fn prepare(&mut self, plan: &mut Plan<'_>) -> Needs {
        let own = match &mut self.reader {
            Reader::Chain(chain) => chain.prepare(plan),
            Reader::Output { .. } => Needs { goes_out: true, ..Needs::default() },
            Reader::Nobody | Reader::Discarded => Needs::default(),
        };
        self.copies.iter().fold(own, |needs, &copy| needs.and(plan.needs(copy)))
    }

    fn info(&self) -> EdgeInfo {
        let reader = match &self.reader {
            Reader::Nobody => ReaderInfo::Nobody,
            Reader::Chain(chain) => ReaderInfo::Chain(ChainInfo::of(&**chain)),
            Reader::Output { number, .. } => ReaderInfo::Output(*number),
            Reader::Discarded => ReaderInfo::Discarded,
        };
        EdgeInfo { type_name: short_type_name::<T>(), reader, copies: self.copies.clone() }
    }
}

impl fmt::Debug for dyn AnyEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.info().fmt(f)
    }
}

/// The watermark of several streams that become one: the smallest of those that are active.
#[derive(Debug)]
pub(crate) struct Merge {
    /// The stage that wants it, for descriptions: `union`.
    pub(crate) stage: &'static str,
    inputs: Vec<Part>,
    given: Option<Timestamp>,
    /// The clock that shows the watermark, if there is one.
    pub(crate) clock: Option<ClockId>,
}

/// What the inputs of a merge bring about together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Together {
    Nothing,
    Watermark(Timestamp),
    Idle,
    End,
}

impl Merge {
    pub(crate) fn new(stage: &'static str, inputs: usize) -> Self {
        Merge { stage, inputs: vec![Part::default(); inputs], given: None, clock: None }
    }

    pub(crate) fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// An event came: the input is not idle any more.
    pub(crate) fn wake(&mut self, input: usize) {
        self.change(input, |part| part.idle = false);
    }

    pub(crate) fn advance(&mut self, input: usize, to: Timestamp) -> Together {
        self.change(input, |part| {
            part.watermark = part.watermark.max(Some(to));
            part.idle = false;
        });
        self.moved().unwrap_or(Together::Nothing)
    }

    pub(crate) fn set_idle(&mut self, input: usize) -> Together {
        self.change(input, |part| part.idle = true);
        let all = self.inputs.iter().all(|part| part.idle || part.finished);
        self.moved().unwrap_or(if all { Together::Idle } else { Together::Nothing })
    }

    pub(crate) fn finish(&mut self, input: usize) -> Together {
        self.change(input, |part| part.finished = true);
        if self.inputs.iter().all(|part| part.finished) {
            return Together::End;
        }
        self.moved().unwrap_or(Together::Nothing)
    }

    fn change(&mut self, input: usize, f: impl FnOnce(&mut Part)) {
        if let Some(part) = self.inputs.get_mut(input) {
            f(part);
        }
    }

    fn moved(&mut self) -> Option<Together> {
        let before = self.given;
        self.given = before.max(furthest(self.inputs.iter()));
        self.given.filter(|_| before < self.given).map(Together::Watermark)
    }
}

/// A type's name without the paths: `Pane<String, i64>`.
pub(crate) fn short_type_name<T>() -> String {
    let mut short = String::new();
    let mut word_start = 0;
    for c in std::any::type_name::<T>().chars() {
        if c == ':' {
            short.truncate(word_start);
            continue;
        }
        short.push(c);
        if !(c.is_alphanumeric() || c == '_') {
            word_start = short.len();
        }
    }
    short
}
