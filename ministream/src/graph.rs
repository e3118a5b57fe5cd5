//! The graph while it is built: edges, and the chains that read them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::context::{Context, Edge, EdgeId, EdgeInfo, Merge, MergeId, Reader, ReaderInfo};
use crate::error::Refusal;
use crate::event::Data;
use crate::operator::Push;
use crate::plan::Plan;

/// The graph that the streams of one pipeline belong to.
#[derive(Clone, Debug, Default)]
pub struct GraphRef(Rc<RefCell<Graph>>);

#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) ctx: Context,
    pub(crate) refusals: Vec<Refusal>,
}

impl GraphRef {
    /// Runs `f` with the graph. No user code runs inside, so the borrow is never taken twice.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut Graph) -> R) -> R {
        f(&mut self.0.borrow_mut())
    }

    pub(crate) fn is(&self, other: &GraphRef) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Graph {
    pub(crate) fn add_edge<T: Data>(&mut self) -> EdgeId {
        self.ctx.add_edge::<T>()
    }

    /// Adds an edge that gets a clone of everything on this one.
    pub(crate) fn add_copy<T: Data>(&mut self, edge: EdgeId) -> EdgeId {
        let copy = self.add_edge::<T>();
        self.ctx.with(edge, |edge: &mut Edge<T>, _| edge.copies.push(copy));
        copy
    }

    pub(crate) fn set_reader<T: Data>(&mut self, edge: EdgeId, reader: Reader<T>) {
        self.ctx.with(edge, |edge: &mut Edge<T>, _| edge.reader = reader);
    }

    /// Adds a chain that reads `input`.
    pub(crate) fn add_chain<T: Data, P: Push<T>>(&mut self, input: EdgeId, chain: P) {
        self.set_reader(input, Reader::Chain(Box::new(chain)));
    }

    pub(crate) fn add_merge(&mut self, stage: &'static str, inputs: usize) -> MergeId {
        self.ctx.add_merge(Merge::new(stage, inputs))
    }

    /// Lets all operators agree, and gives what they refuse.
    pub(crate) fn plan(&mut self) -> Vec<Refusal> {
        let order = in_order(&self.ctx);
        let mut plan = Plan::new(&mut self.ctx);
        for refusal in self.refusals.drain(..) {
            plan.refuse(refusal);
        }
        for (_, edge) in &order {
            // Of a stream that was cloned, the clones may be all that is wanted.
            if matches!(edge.reader, ReaderInfo::Nobody) && edge.copies.is_empty() {
                let reason = format!(
                    "nothing reads this stream of `{}`: return it, feed it to another stage, or call `discard()` on it",
                    edge.type_name
                );
                plan.refuse(Refusal::new("stream", reason));
            }
        }
        let order: Vec<_> = order.into_iter().map(|(edge, _)| edge).collect();
        let refusals = plan.agree(&order);
        self.ctx.settle();
        refusals
    }
}

/// The edges, each behind those that lead to it; otherwise in the order in which they were made.
pub(crate) fn in_order(ctx: &Context) -> Vec<(EdgeId, EdgeInfo)> {
    let mut edges: BTreeMap<EdgeId, EdgeInfo> = ctx.edges().map(|(id, edge)| (id, edge.info())).collect();
    let mut waits_for: BTreeMap<EdgeId, usize> = edges.keys().map(|&edge| (edge, 0)).collect();
    for edge in edges.values().flat_map(EdgeInfo::writes) {
        *waits_for.entry(edge).or_default() += 1;
    }
    let mut order = Vec::new();
    while let Some(next) = waits_for.iter().find(|(_, writers)| **writers == 0).map(|(&edge, _)| edge) {
        waits_for.remove(&next);
        let Some(info) = edges.remove(&next) else { continue };
        for edge in info.writes() {
            if let Some(writers) = waits_for.get_mut(&edge) {
                *writers -= 1;
            }
        }
        order.push((next, info));
    }
    order
}
