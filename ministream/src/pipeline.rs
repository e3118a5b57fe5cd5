//! Pipelines that run inside a program: events are pushed in, and what they bring about comes out.

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::mem;

use crate::context::{Context, EdgeId, LeadsTo};
use crate::counters::Counters;
use crate::error::{Error, FinishError, Refusal};
use crate::event::{Data, Event};
use crate::graph::{self, EdgeInfo, GraphRef, Node, Reader, short_type_name};
use crate::stream::Stream;
use crate::time::Timestamp;

/// A pipeline that runs: made of a function from streams to streams, fed one event at a time, without threads, clocks or
/// I/O.
///
/// ```
/// use ministream::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Debug, Serialize, Deserialize, Event)]
/// struct Click {
///     event_id: u64,
///     user: String,
///     #[event(time, unit = "ms")]
///     ts: i64,
///     value: i64,
/// }
///
/// #[pipeline(
///     source -> dedup(event_id) -> key_by(user) -> tumbling(10s, delay = 3s, lateness = 5s) -> sum(value)
/// )]
/// fn spend_per_user(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);
///
/// # fn main() -> Result<(), Error> {
/// let mut spend = Pipeline::new(spend_per_user);
/// for (event_id, ts, value) in [(1, 1_000, 40), (2, 9_000, 2), (2, 9_000, 2), (3, 13_000, 5)] {
///     let (panes, late) = spend.push(Click { event_id, user: "alice".into(), ts, value })?;
///     for pane in panes {
///         assert_eq!(pane.to_string(), "[00:00:00, 00:00:10) alice = 42");
///     }
///     assert_eq!(late.len(), 0);
/// }
/// let (panes, _late) = spend.finish()?;
/// assert_eq!(panes[0].value, 5);
/// # Ok(())
/// # }
/// ```
pub struct Pipeline<T, O: Outputs> {
    nodes: Vec<Box<dyn Node>>,
    edges: Vec<EdgeInfo>,
    ctx: Context,
    source: EdgeId,
    outputs: O::Buffers,
    refusals: Vec<Refusal>,
    events_in: u64,
    takes: PhantomData<fn(T)>,
}

impl<T: Event + Data, O: Outputs> Pipeline<T, O> {
    /// Builds a pipeline. Settings are handed in by a closure: `Pipeline::new(|clicks| spend(clicks, secs(10)))`.
    ///
    /// A pipeline that cannot work (a window of size zero from a setting, say) is refused: each call gives the error. To
    /// see that at once, use [`try_new`](Pipeline::try_new).
    pub fn new(f: impl FnOnce(Stream<T>) -> O) -> Self {
        let graph = GraphRef::default();
        let source = Stream::on(&graph);
        let source_edge = source.edge();
        let outputs = f(source).wire(&graph);
        graph.with(|graph| {
            let refusals = graph.plan();
            Pipeline {
                nodes: mem::take(&mut graph.nodes),
                edges: mem::take(&mut graph.edges),
                ctx: mem::take(&mut graph.ctx),
                source: source_edge,
                outputs,
                refusals,
                events_in: 0,
                takes: PhantomData,
            }
        })
    }

    /// As [`new`](Pipeline::new), with the check of the pipeline's settings first.
    ///
    /// # Errors
    ///
    /// If the pipeline is refused; the error names each mistake.
    pub fn try_new(f: impl FnOnce(Stream<T>) -> O) -> Result<Self, Error> {
        let pipeline = Pipeline::new(f);
        pipeline.check()?;
        Ok(pipeline)
    }

    /// Takes one event and gives what it brought about, in order. The result mirrors the return type of the function:
    /// a [`Drain`] for each stream.
    ///
    /// # Errors
    ///
    /// If the pipeline was refused, or a result cannot be given. In the second case the event is taken and everything else
    /// went on; other results that it brought about come with the next call, or from
    /// [`drain`](Pipeline::drain).
    pub fn push(&mut self, event: T) -> Result<O::Drains<'_>, Error> {
        self.check()?;
        self.take(event);
        self.run();
        self.give()
    }

    /// Takes several events, one after the other, and gives what they brought about, in order: the same as pushing each
    /// alone.
    ///
    /// # Errors
    ///
    /// As [`push`](Pipeline::push); all events are taken.
    pub fn push_batch(&mut self, events: impl IntoIterator<Item = T>) -> Result<O::Drains<'_>, Error> {
        self.check()?;
        // Several chains take turns with each event, as they do when it is pushed alone.
        let turns = self.nodes.len() > 1;
        for event in events {
            self.take(event);
            if turns {
                self.run();
            }
        }
        self.run();
        self.give()
    }

    /// Moves the watermark by hand, where a stream falls quiet: no event before `to` is expected any more. An instant
    /// before the present watermark changes nothing.
    ///
    /// # Errors
    ///
    /// As [`push`](Pipeline::push).
    pub fn advance_to(&mut self, to: Timestamp) -> Result<O::Drains<'_>, Error> {
        self.check()?;
        self.ctx.send_watermark(self.source, to);
        self.run();
        self.give()
    }

    /// The results that wait because the call that brought them about gave an error. Any other call hands them out too.
    pub fn drain(&mut self) -> O::Drains<'_> {
        O::drain(&mut self.outputs, &mut self.ctx)
    }

    /// Ends the input: fires every window that has not fired yet, or has changed since.
    ///
    /// # Errors
    ///
    /// If the pipeline was refused, or a result cannot be given; the error holds all other results.
    pub fn finish(mut self) -> Result<O::Collected, FinishError<O::Collected>> {
        if self.refusals.is_empty() {
            self.ctx.send_end(self.source);
            self.run();
        }
        let error = self.check().and_then(|()| self.failed()).err();
        let results = O::collect(self.outputs, &mut self.ctx);
        match error {
            None => Ok(results),
            Some(error) => Err(FinishError::new(error, results)),
        }
    }

    /// The chain of operators as text, one stage a line.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Clone, Serialize, Deserialize, Event)]
    /// # struct Click { user: String, #[event(time, unit = "ms")] ts: i64 }
    /// #[pipeline(source -> key_by(user) -> tumbling(10s, delay = 3s) -> count())]
    /// fn clicks_per_user(source: Stream<Click>) -> (Stream<Pane<String, u64>>, Stream<Late<Click>>);
    ///
    /// let text = Pipeline::new(clicks_per_user).describe();
    /// assert_eq!(text, "\
    /// source: Click
    ///   -> watermark(delay = 3s)
    ///   -> key_by
    ///   -> tumbling(10s)
    ///   -> count
    ///      .late => output 1: Late<Click>
    ///   => output 0: Pane<String, u64>
    /// ");
    /// ```
    pub fn describe(&self) -> String {
        graph::describe(&self.nodes, &self.edges, &[(self.source, short_type_name::<T>())])
    }

    /// What was counted so far.
    pub fn counters(&self) -> Counters {
        let mut operators = Vec::new();
        for node in &self.nodes {
            let (infos, end) = node.describe();
            let mut counters: Vec<_> = infos.into_iter().map(|info| info.counters).collect();
            let is_output = matches!(self.edges.get(end.0), Some(EdgeInfo { reader: Reader::Output(_), .. }));
            if let Some(last) = counters.last_mut() {
                last.is_last = is_output;
            }
            operators.append(&mut counters);
        }
        Counters { events_in: self.events_in, watermark: self.ctx.watermark(), operators }
    }

    /// The present watermark: the smallest of the pipeline's `watermark` stages; None before the first event.
    pub fn watermark(&self) -> Option<Timestamp> {
        self.ctx.watermark()
    }

    fn check(&self) -> Result<(), Error> {
        if self.refusals.is_empty() { Ok(()) } else { Err(Error::refused(self.refusals.clone())) }
    }

    fn take(&mut self, event: T) {
        self.events_in += 1;
        self.ctx.send(self.source, event.timestamp(), event);
    }

    fn run(&mut self) {
        for node in &mut self.nodes {
            node.run(&mut self.ctx);
        }
    }

    fn failed(&mut self) -> Result<(), Error> {
        if self.ctx.failures.is_empty() { Ok(()) } else { Err(Error::failed(mem::take(&mut self.ctx.failures))) }
    }

    fn give(&mut self) -> Result<O::Drains<'_>, Error> {
        self.failed()?;
        Ok(self.drain())
    }
}

impl<T, O: Outputs> fmt::Debug for Pipeline<T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").field("nodes", &self.nodes).finish_non_exhaustive()
    }
}

/// What a pipeline function returns: a [`Stream`], or a tuple of up to eight.
#[diagnostic::on_unimplemented(
    message = "a pipeline returns `Stream<…>` or a tuple of them, not `{Self}`",
    label = "not a stream",
    note = "close a chain with `.into_streams()`"
)]
pub trait Outputs: sealed::Outputs {}

impl<O: sealed::Outputs> Outputs for O {}

pub(crate) mod sealed {
    use super::{Context, GraphRef};

    pub trait Outputs: 'static {
        /// What a call of [`push`](super::Pipeline::push) gives.
        type Drains<'a>;
        /// What [`finish`](super::Pipeline::finish) gives.
        type Collected;
        type Buffers: Send;

        fn wire(self, graph: &GraphRef) -> Self::Buffers;
        fn drain<'a>(buffers: &'a mut Self::Buffers, ctx: &mut Context) -> Self::Drains<'a>;
        fn collect(buffers: Self::Buffers, ctx: &mut Context) -> Self::Collected;
    }
}

/// The results of one output that one call brought about, in order.
///
/// What is not taken out of it is gone with the next call.
#[derive(Debug)]
#[must_use = "these are the results; what is not looked at is gone with the next call"]
pub struct Drain<'a, T> {
    /// Not a `std::vec::Drain`, which would hold the pipeline borrowed until it is dropped.
    results: &'a mut VecDeque<T>,
}

impl<T> Drain<'_, T> {
    /// The results not yet taken.
    pub fn as_slice(&mut self) -> &[T] {
        self.results.make_contiguous()
    }
}

impl<T> Iterator for Drain<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.results.pop_front()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.results.len(), Some(self.results.len()))
    }
}

impl<T> DoubleEndedIterator for Drain<'_, T> {
    fn next_back(&mut self) -> Option<T> {
        self.results.pop_back()
    }
}

impl<T> ExactSizeIterator for Drain<'_, T> {}

impl<T> std::iter::FusedIterator for Drain<'_, T> {}

/// The results of one output between the graph and the caller.
#[derive(Debug)]
pub struct Buffer<T> {
    edge: EdgeId,
    results: VecDeque<T>,
}

impl<T: Data> Buffer<T> {
    fn new(stream: &Stream<T>, graph: &GraphRef, number: usize) -> Self {
        let edge = stream.edge();
        let own = stream.graph().is(graph);
        graph.with(|graph| {
            if own {
                graph.set_reader(edge, Reader::Output(number));
                if let Some(edge) = graph.ctx.edge::<T>(edge) {
                    edge.leads_to = LeadsTo::Output;
                }
            } else {
                graph.refusals.push(Refusal::new("stream", "a stream of another pipeline cannot be returned here"));
            }
        });
        Buffer { edge, results: VecDeque::new() }
    }

    /// Lets the results that wait in the graph change places with the empty buffer.
    fn drain(&mut self, ctx: &mut Context) -> Drain<'_, T> {
        self.results.clear();
        if let Some(edge) = ctx.edge(self.edge) {
            mem::swap(&mut edge.results, &mut self.results);
        }
        Drain { results: &mut self.results }
    }

    fn collect(self, ctx: &mut Context) -> Vec<T> {
        ctx.edge(self.edge).map(|edge| Vec::from(mem::take(&mut edge.results))).unwrap_or_default()
    }
}

impl<A: Data> sealed::Outputs for Stream<A> {
    type Drains<'a> = Drain<'a, A>;
    type Collected = Vec<A>;
    type Buffers = Buffer<A>;

    fn wire(self, graph: &GraphRef) -> Buffer<A> {
        Buffer::new(&self, graph, 0)
    }

    fn drain<'a>(buffer: &'a mut Buffer<A>, ctx: &mut Context) -> Drain<'a, A> {
        buffer.drain(ctx)
    }

    fn collect(buffer: Buffer<A>, ctx: &mut Context) -> Vec<A> {
        buffer.collect(ctx)
    }
}

macro_rules! output_tuples {
    ($(($($A:ident $a:ident $number:literal),+))*) => {$(
        impl<$($A: Data),+> sealed::Outputs for ($(Stream<$A>,)+) {
            type Drains<'a> = ($(Drain<'a, $A>,)+);
            type Collected = ($(Vec<$A>,)+);
            type Buffers = ($(Buffer<$A>,)+);

            fn wire(self, graph: &GraphRef) -> Self::Buffers {
                let ($($a,)+) = self;
                ($(Buffer::new(&$a, graph, $number),)+)
            }

            fn drain<'a>(buffers: &'a mut Self::Buffers, ctx: &mut Context) -> Self::Drains<'a> {
                let ($($a,)+) = buffers;
                ($($a.drain(ctx),)+)
            }

            fn collect(buffers: Self::Buffers, ctx: &mut Context) -> Self::Collected {
                let ($($a,)+) = buffers;
                ($($a.collect(ctx),)+)
            }
        }
    )*};
}

output_tuples! {
    (A a 0)
    (A a 0, B b 1)
    (A a 0, B b 1, C c 2)
    (A a 0, B b 1, C c 2, D d 3)
    (A a 0, B b 1, C c 2, D d 3, E e 4)
    (A a 0, B b 1, C c 2, D d 3, E e 4, F f 5)
    (A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6)
    (A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7)
}
