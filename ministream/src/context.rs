//! What all chains of a running pipeline share: the edges between them, the clocks, and the failures of one call.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;

use crate::element::Element;
use crate::error::Failure;
use crate::event::Data;
use crate::time::Timestamp;

/// Names an edge of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeId(pub(crate) usize);

/// Names a clock: the watermark that one `watermark` stage makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockId(usize);

/// The edges, clocks and failures of a pipeline.
#[derive(Debug, Default)]
pub struct Context {
    edges: Vec<Box<dyn AnyEdge>>,
    clocks: Vec<Option<Timestamp>>,
    pub(crate) failures: Vec<Failure>,
}

impl Context {
    pub(crate) fn add_edge<T: Data>(&mut self) -> EdgeId {
        self.edges.push(Box::new(Edge::<T> {
            elements: Vec::new(),
            results: VecDeque::new(),
            leads_to: LeadsTo::Chain,
        }));
        EdgeId(self.edges.len() - 1)
    }

    pub(crate) fn add_clock(&mut self) -> ClockId {
        self.clocks.push(None);
        ClockId(self.clocks.len() - 1)
    }

    /// The watermark of a clock; None before its first event.
    pub(crate) fn clock(&self, clock: ClockId) -> Option<Timestamp> {
        self.clocks.get(clock.0).copied().flatten()
    }

    pub(crate) fn set_clock(&mut self, clock: ClockId, to: Timestamp) {
        if let Some(clock) = self.clocks.get_mut(clock.0) {
            *clock = Some(to);
        }
    }

    /// The smallest of all clocks; None if one has not started.
    pub(crate) fn watermark(&self) -> Option<Timestamp> {
        self.clocks.iter().copied().min().flatten()
    }

    /// The edge, which carries events of type `T`: ids are given out by `add_edge`, and kept beside the type.
    pub(crate) fn edge<T: Data>(&mut self, edge: EdgeId) -> Option<&mut Edge<T>> {
        let found = self.edges.get_mut(edge.0).and_then(|edge| edge.as_any().downcast_mut());
        if found.is_none() {
            self.failures.push(Failure::internal("an edge does not carry the type that was put on it"));
        }
        found
    }

    pub(crate) fn send<T: Data>(&mut self, edge: EdgeId, at: Timestamp, event: T) {
        if let Some(edge) = self.edge(edge) {
            edge.push(at, event);
        }
    }

    pub(crate) fn send_watermark(&mut self, edge: EdgeId, to: Timestamp) {
        if let Some(edge) = self.edges.get_mut(edge.0) {
            edge.push_watermark(to);
        }
    }

    pub(crate) fn send_end(&mut self, edge: EdgeId) {
        if let Some(edge) = self.edges.get_mut(edge.0) {
            edge.push_end();
        }
    }
}

/// The elements that one chain has put out and the next has not taken yet; or, at the rim of the graph, the results.
#[derive(Debug)]
pub(crate) struct Edge<T> {
    pub(crate) elements: Vec<Element<T>>,
    pub(crate) results: VecDeque<T>,
    pub(crate) leads_to: LeadsTo,
}

/// Who takes what is put on an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeadsTo {
    Chain,
    /// The caller of the pipeline.
    Output,
    /// Nobody wants it.
    Nowhere,
}

impl<T> Edge<T> {
    pub(crate) fn push(&mut self, at: Timestamp, event: T) {
        match self.leads_to {
            LeadsTo::Chain => self.elements.push(Element::Event(at, event)),
            LeadsTo::Output => self.results.push_back(event),
            LeadsTo::Nowhere => {}
        }
    }
}

trait AnyEdge: Send {
    fn as_any(&mut self) -> &mut dyn Any;
    fn push_watermark(&mut self, to: Timestamp);
    fn push_end(&mut self);
}

impl<T: Data> AnyEdge for Edge<T> {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn push_watermark(&mut self, to: Timestamp) {
        if self.leads_to == LeadsTo::Chain {
            self.elements.push(Element::Watermark(to));
        }
    }

    fn push_end(&mut self) {
        if self.leads_to == LeadsTo::Chain {
            self.elements.push(Element::End);
        }
    }
}

impl fmt::Debug for dyn AnyEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Edge")
    }
}
