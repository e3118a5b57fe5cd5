//! Pipelines that run inside a program: events are pushed in, and what they bring about comes out.

use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};

mod inputs;
mod outputs;

pub use self::inputs::{Input, Inputs, Sources, Wire};
pub use self::outputs::{Drain, Outputs};
use crate::context::{Context, Edge, EdgeId, ReaderInfo};
use crate::counters::Counters;
use crate::describe::Description;
use crate::error::{Error, Failure, FinishError, Refusal};
use crate::event::{Data, Event};
use crate::graph::{GraphRef, in_order};
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
pub struct Pipeline<I, O: Outputs> {
    ctx: Context,
    sources: Vec<Source>,
    outputs: O::Buffers,
    refusals: Vec<Refusal>,
    /// Tells its [`Input`]s from those of other pipelines.
    number: u64,
    takes: PhantomData<fn(I)>,
}

#[derive(Debug)]
struct Source {
    edge: EdgeId,
    events: u64,
    ended: bool,
}

impl<I, O: Outputs> Pipeline<I, O> {
    /// Builds a pipeline of a function from streams to streams. Settings are handed in by a closure:
    /// `Pipeline::new(|clicks| spend(clicks, secs(10)))`.
    ///
    /// A function with one stream makes a pipeline that events are [`push`](Pipeline::push)ed into; with several, the
    /// stream is named first, see [`inputs`](Pipeline::inputs).
    ///
    /// A pipeline that cannot work (a window of size zero from a setting, say) is refused: each call gives the error. To
    /// see that at once, use [`try_new`](Pipeline::try_new).
    pub fn new<M, F>(f: F) -> Self
    where
        F: Wire<M, Inputs = I, Outputs = O>,
        I: Inputs,
    {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let graph = GraphRef::default();
        let (edges, outputs) = f.wire(&graph);
        let outputs = outputs.wire(&graph);
        let (ctx, sources, refusals) = planned(&graph, edges);
        Pipeline { ctx, sources, outputs, refusals, number: NUMBER.fetch_add(1, Ordering::Relaxed), takes: PhantomData }
    }

    /// As [`new`](Pipeline::new), with the check of the pipeline's settings first.
    ///
    /// # Errors
    ///
    /// If the pipeline is refused; the error names each mistake.
    pub fn try_new<M, F>(f: F) -> Result<Self, Error>
    where
        F: Wire<M, Inputs = I, Outputs = O>,
        I: Inputs,
    {
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
    pub fn push(&mut self, event: I) -> Result<O::Drains<'_>, Error>
    where
        I: Event + Data,
    {
        self.take_one(0, event)
    }

    /// Takes several events, one after the other, and gives what they brought about, in order: the same as pushing each
    /// alone.
    ///
    /// # Errors
    ///
    /// As [`push`](Pipeline::push); all events are taken.
    pub fn push_batch(&mut self, events: impl IntoIterator<Item = I>) -> Result<O::Drains<'_>, Error>
    where
        I: Event + Data,
    {
        self.take(0, events)
    }

    /// The names of the streams that the pipeline takes, in the order of the function's parameters: an [`Input`], or a
    /// tuple of them.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// #[derive(Clone, Serialize, Deserialize, Event)]
    /// struct Reading {
    ///     #[event(time, unit = "ms")]
    ///     ts: i64,
    ///     degrees: i32,
    /// }
    ///
    /// fn warmer(inside: Stream<Reading>, outside: Stream<Reading>) -> Stream<Reading> {
    ///     inside.union([outside]).filter(|reading| reading.degrees > 30).into_streams()
    /// }
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut pipeline = Pipeline::new(warmer);
    /// let (inside, outside) = pipeline.inputs();
    /// assert_eq!(pipeline.push_to(inside, Reading { ts: 1, degrees: 19 })?.count(), 0);
    /// assert_eq!(pipeline.push_to(outside, Reading { ts: 2, degrees: 31 })?.count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn inputs(&self) -> I::Names
    where
        I: Inputs,
    {
        I::names(self.number)
    }

    /// As [`push`](Pipeline::push), into one of several streams.
    ///
    /// # Errors
    ///
    /// As [`push`](Pipeline::push); and if the input has [ended](Pipeline::end_input), or belongs to another pipeline.
    pub fn push_to<T: Event + Data>(&mut self, input: Input<T>, event: T) -> Result<O::Drains<'_>, Error> {
        self.take_one(self.number_of(input)?, event)
    }

    /// As [`push_batch`](Pipeline::push_batch), into one of several streams.
    ///
    /// # Errors
    ///
    /// As [`push_to`](Pipeline::push_to).
    pub fn push_batch_to<T: Event + Data>(
        &mut self,
        input: Input<T>,
        events: impl IntoIterator<Item = T>,
    ) -> Result<O::Drains<'_>, Error> {
        self.take(self.number_of(input)?, events)
    }

    /// Moves the watermark by hand, where a stream falls quiet: no event before `to` is expected any more, of no input. An
    /// instant before the present watermark changes nothing.
    ///
    /// # Errors
    ///
    /// As [`push`](Pipeline::push).
    pub fn advance_to(&mut self, to: Timestamp) -> Result<O::Drains<'_>, Error> {
        self.check()?;
        for source in self.sources.iter().filter(|source| !source.ended) {
            self.ctx.send_watermark(source.edge, to);
        }
        self.give()
    }

    /// As [`advance_to`](Pipeline::advance_to), for one of several streams.
    ///
    /// # Errors
    ///
    /// As [`push_to`](Pipeline::push_to).
    pub fn advance_input_to<T>(&mut self, input: Input<T>, to: Timestamp) -> Result<O::Drains<'_>, Error> {
        let edge = self.open_source(self.number_of(input)?)?.edge;
        self.ctx.send_watermark(edge, to);
        self.give()
    }

    /// One of several streams falls quiet: until something comes from it again it does not hold back the others, where
    /// they meet in a `union` or a join.
    ///
    /// # Errors
    ///
    /// As [`push_to`](Pipeline::push_to).
    pub fn set_idle<T>(&mut self, input: Input<T>) -> Result<O::Drains<'_>, Error> {
        let edge = self.open_source(self.number_of(input)?)?.edge;
        self.ctx.send_idle(edge);
        self.give()
    }

    /// One of several streams has ended: nothing can be pushed into it any more, and it holds nothing back.
    ///
    /// # Errors
    ///
    /// As [`push_to`](Pipeline::push_to).
    pub fn end_input<T>(&mut self, input: Input<T>) -> Result<O::Drains<'_>, Error> {
        let source = self.open_source(self.number_of(input)?)?;
        source.ended = true;
        let edge = source.edge;
        self.ctx.send_end(edge);
        self.give()
    }

    /// The results that wait because the call that brought them about gave an error. Any other call hands them out too.
    pub fn drain(&mut self) -> O::Drains<'_> {
        let drains = O::drain(&mut self.outputs, &mut self.ctx);
        self.ctx.has_results = false;
        drains
    }

    /// Ends the input: fires every window that has not fired yet, or has changed since.
    ///
    /// # Errors
    ///
    /// If the pipeline was refused, or a result cannot be given; the error holds all other results.
    pub fn finish(mut self) -> Result<O::Collected, FinishError<O::Collected>> {
        if self.refusals.is_empty() {
            for source in self.sources.iter().filter(|source| !source.ended) {
                self.ctx.send_end(source.edge);
            }
        }
        let error = self.check().and_then(|()| self.failed()).err();
        let results = O::collect(self.outputs, &mut self.ctx);
        match error {
            None => Ok(results),
            Some(error) => Err(FinishError::new(error, results)),
        }
    }

    /// What the pipeline does: as text, one stage a line, and as a diagram
    /// ([`to_mermaid`](Description::to_mermaid)).
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
    pub fn describe(&self) -> Description {
        let sources: Vec<_> = self.sources.iter().map(|source| source.edge).collect();
        Description::of(&self.ctx, &sources)
    }

    /// What was counted so far.
    pub fn counters(&self) -> Counters {
        let edges = in_order(&self.ctx);
        let outputs: Vec<_> =
            edges.iter().filter(|(_, edge)| matches!(edge.reader, ReaderInfo::Output(_))).map(|(id, _)| *id).collect();
        let mut operators = Vec::new();
        for (_, edge) in edges {
            let ReaderInfo::Chain(chain) = edge.reader else { continue };
            let mut counters: Vec<_> = chain.operators.into_iter().map(|info| info.counters).collect();
            if let Some(last) = counters.last_mut() {
                last.is_last = outputs.contains(&chain.end);
            }
            operators.append(&mut counters);
        }
        let events_in = self.sources.iter().map(|source| source.events).sum();
        Counters { events_in, watermark: self.ctx.watermark(), operators }
    }

    /// The present watermark: the smallest of the pipeline's `watermark` stages; None before the first event.
    pub fn watermark(&self) -> Option<Timestamp> {
        self.ctx.watermark()
    }

    fn check(&self) -> Result<(), Error> {
        if self.refusals.is_empty() { Ok(()) } else { Err(Error::refused(self.refusals.clone())) }
    }

    fn number_of<T>(&self, input: Input<T>) -> Result<usize, Error> {
        if input.pipeline == self.number {
            return Ok(input.source);
        }
        let reason = "this input belongs to another pipeline: take the names from `inputs()` of this one";
        Err(Error::failed(vec![Failure::of_operator("pipeline", reason)]))
    }

    /// The source, if the pipeline can work and the source has not ended.
    fn open_source(&mut self, number: usize) -> Result<&mut Source, Error> {
        self.check()?;
        match self.sources.get_mut(number) {
            Some(source) if !source.ended => Ok(source),
            _ => {
                let reason = format!("source {number} has ended, and takes nothing any more");
                Err(Error::failed(vec![Failure::of_operator("pipeline", reason)]))
            }
        }
    }

    fn take_one<T: Event + Data>(&mut self, source: usize, event: T) -> Result<O::Drains<'_>, Error> {
        let source = self.open_source(source)?;
        source.events += 1;
        let edge = source.edge;
        self.ctx.send(edge, event.timestamp(), event);
        self.give()
    }

    fn take<T: Event + Data>(
        &mut self,
        source: usize,
        events: impl IntoIterator<Item = T>,
    ) -> Result<O::Drains<'_>, Error> {
        /// The lines of memory that so many events need stay near until their turn comes.
        const BATCH: usize = 256;
        let edge = self.open_source(source)?.edge;
        let taken = self.ctx.with(edge, |edge: &mut Edge<T>, ctx| {
            let mut events = events.into_iter();
            let mut batch = mem::take(&mut edge.batch);
            let mut taken = 0;
            loop {
                batch.extend(events.by_ref().take(BATCH).map(|event| (event.timestamp(), event)));
                if batch.is_empty() {
                    break;
                }
                taken += batch.len() as u64;
                if batch.len() > 1 {
                    edge.upcoming(&batch, ctx);
                }
                edge.events(&mut batch, ctx);
            }
            edge.batch = batch;
            taken
        });
        if let (Some(source), Some(taken)) = (self.sources.get_mut(source), taken) {
            source.events += taken;
        }
        self.give()
    }

    fn failed(&mut self) -> Result<(), Error> {
        if self.ctx.failures.is_empty() { Ok(()) } else { Err(Error::failed(mem::take(&mut self.ctx.failures))) }
    }

    fn give(&mut self) -> Result<O::Drains<'_>, Error> {
        self.failed()?;
        Ok(self.drain())
    }
}

/// The graph with its operators agreed.
fn planned(graph: &GraphRef, edges: Vec<EdgeId>) -> (Context, Vec<Source>, Vec<Refusal>) {
    let sources = edges.into_iter().map(|edge| Source { edge, events: 0, ended: false }).collect();
    graph.with(|graph| {
        let refusals = graph.plan();
        (mem::take(&mut graph.ctx), sources, refusals)
    })
}

impl<I, O: Outputs> fmt::Debug for Pipeline<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").field("sources", &self.sources).finish_non_exhaustive()
    }
}
