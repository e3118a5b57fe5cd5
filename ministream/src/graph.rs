//! The graph while it is built: chains, and the edges between them.

use std::any::type_name;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use crate::context::{Context, EdgeId};
use crate::element::Element;
use crate::error::Refusal;
use crate::event::Data;
use crate::operator::{OperatorInfo, Push};
use crate::plan::{Needs, Plan};

/// The graph that the streams of one pipeline belong to.
#[derive(Clone, Debug, Default)]
pub struct GraphRef(Rc<RefCell<Graph>>);

/// Chains in the order in which they were built: each reads an edge that an earlier one writes.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) ctx: Context,
    pub(crate) nodes: Vec<Box<dyn Node>>,
    pub(crate) edges: Vec<EdgeInfo>,
    pub(crate) refusals: Vec<Refusal>,
}

/// What is known of an edge beside what it carries.
#[derive(Debug)]
pub(crate) struct EdgeInfo {
    pub(crate) type_name: String,
    /// Who reads it.
    pub(crate) reader: Reader,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Nobody,
    Chain,
    /// It is the pipeline's output with this number, from 0.
    Output(usize),
    /// The user says that it is not wanted.
    Discarded,
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
        self.edges.push(EdgeInfo { type_name: short_type_name::<T>(), reader: Reader::Nobody });
        self.ctx.add_edge::<T>()
    }

    pub(crate) fn set_reader(&mut self, edge: EdgeId, reader: Reader) {
        if let Some(edge) = self.edges.get_mut(edge.0) {
            edge.reader = reader;
        }
    }

    /// Adds a chain that reads `input`.
    pub(crate) fn add_chain<T: Data, P: Push<T>>(&mut self, input: EdgeId, chain: P) {
        self.set_reader(input, Reader::Chain);
        self.nodes.push(Box::new(Chain { input, chain, spare: Vec::<Element<T>>::new() }));
    }

    /// Puts each chain behind those that write what it reads. A side output can be read by a chain that was built before
    /// the one that writes it.
    fn sort(&mut self) {
        let writers: BTreeMap<usize, usize> = (0..)
            .zip(&self.nodes)
            .flat_map(|(number, node)| node.outputs().into_iter().map(move |edge| (edge.0, number)))
            .collect();
        let inputs: Vec<usize> = self.nodes.iter().map(|node| node.input().0).collect();
        let depth = |number: usize| {
            let writer_of = |&number: &usize| writers.get(inputs.get(number)?).copied();
            std::iter::successors(Some(number), writer_of).count()
        };
        let mut numbered: Vec<_> = self.nodes.drain(..).enumerate().collect();
        numbered.sort_by_key(|(number, _)| depth(*number));
        self.nodes = numbered.into_iter().map(|(_, node)| node).collect();
    }

    /// Lets all operators agree, and gives what they refuse.
    pub(crate) fn plan(&mut self) -> Vec<Refusal> {
        self.sort();
        let Graph { ctx, nodes, edges, refusals } = self;
        let mut plan = Plan::new(ctx, edges.len());
        for refusal in refusals.drain(..) {
            plan.refuse(refusal);
        }
        for edge in edges.iter().filter(|edge| edge.reader == Reader::Nobody) {
            let reason = format!(
                "nothing reads this stream of `{}`: return it, feed it to another stage, or call `discard()` on it",
                edge.type_name
            );
            plan.refuse(Refusal::new("stream", reason));
        }
        for node in nodes.iter_mut() {
            node.open(&mut plan);
        }
        for node in nodes.iter_mut().rev() {
            node.prepare(&mut plan);
        }
        plan.into_refusals()
    }
}

/// A chain that reads one edge: what is run.
pub(crate) trait Node: Send {
    /// Takes all that waits on the edge.
    fn run(&mut self, ctx: &mut Context);
    fn open(&mut self, plan: &mut Plan<'_>);
    fn prepare(&mut self, plan: &mut Plan<'_>);
    fn input(&self) -> EdgeId;
    /// Its operators, upstream first, and the edge that it ends in.
    fn describe(&self) -> (Vec<OperatorInfo>, EdgeId);

    /// The edges that it writes.
    fn outputs(&self) -> Vec<EdgeId> {
        let (operators, end) = self.describe();
        let ports = operators.iter().flat_map(|operator| &operator.ports).map(|&(_, edge)| edge);
        ports.chain([end]).collect()
    }
}

impl fmt::Debug for dyn Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operators, _) = self.describe();
        f.debug_list().entries(operators.iter().map(|operator| &operator.counters.name)).finish()
    }
}

struct Chain<T, P> {
    input: EdgeId,
    chain: P,
    /// An empty buffer that changes places with the edge's.
    spare: Vec<Element<T>>,
}

impl<T: Data, P: Push<T>> Node for Chain<T, P> {
    fn run(&mut self, ctx: &mut Context) {
        match ctx.edge(self.input) {
            Some(edge) if !edge.elements.is_empty() => std::mem::swap(&mut edge.elements, &mut self.spare),
            _ => return,
        }
        for element in self.spare.drain(..) {
            match element {
                Element::Event(at, event) => {
                    self.chain.event(at, event, ctx);
                }
                Element::Watermark(to) => self.chain.watermark(to, ctx),
                Element::End => self.chain.end(ctx),
            }
        }
    }

    fn open(&mut self, plan: &mut Plan<'_>) {
        let upstream = plan.upstream(self.input);
        self.chain.open(upstream, plan);
    }

    fn prepare(&mut self, plan: &mut Plan<'_>) {
        let needs: Needs = self.chain.prepare(plan);
        plan.set_needs(self.input, needs);
    }

    fn input(&self) -> EdgeId {
        self.input
    }

    fn describe(&self) -> (Vec<OperatorInfo>, EdgeId) {
        let mut operators = Vec::new();
        let edge = self.chain.describe(&mut operators);
        (operators, edge)
    }
}

/// A type's name without the paths: `Pane<String, i64>`.
pub(crate) fn short_type_name<T>() -> String {
    let mut short = String::new();
    let mut word_start = 0;
    for c in type_name::<T>().chars() {
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

/// The graph as text: each chain from the edge it reads, with its side outputs, to where it ends.
pub(crate) fn describe(nodes: &[Box<dyn Node>], edges: &[EdgeInfo], inputs: &[(EdgeId, String)]) -> String {
    let mut names: BTreeMap<usize, String> =
        inputs.iter().map(|(edge, type_name)| (edge.0, format!("source: {type_name}"))).collect();
    let mut text = String::new();
    let mut streams = 0;
    let mut target = |edge: EdgeId, names: &mut BTreeMap<usize, String>| match edges.get(edge.0) {
        Some(EdgeInfo { reader: Reader::Output(number), type_name }) => format!("output {number}: {type_name}"),
        Some(EdgeInfo { reader: Reader::Chain, type_name }) => {
            streams += 1;
            let name = format!("stream {streams}: {type_name}");
            names.insert(edge.0, name.clone());
            name
        }
        _ => "discarded".to_owned(),
    };
    for node in nodes {
        let (operators, end) = node.describe();
        text.push_str(names.get(&node.input().0).map_or("source", String::as_str));
        text.push('\n');
        for operator in operators {
            for stage in operator.stages {
                text.push_str(&format!("  -> {stage}\n"));
            }
            for (port, edge) in operator.ports {
                text.push_str(&format!("     .{port} => {}\n", target(edge, &mut names)));
            }
        }
        text.push_str(&format!("  => {}\n", target(end, &mut names)));
    }
    text
}
