//! What pipelines are written with: streams, and the chains of operators behind them.
//!
//! A [`Stream<T>`] is a handle on a graph under construction, and so is every step of a chain: `Stream<T, C>` is the same
//! stream as its chain of operators `C` sees it. [`into_streams`](Stream::into_streams) closes a chain; what comes out
//! are plain `Stream<T>`s again, which a function can take and return. The methods live with the operators.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;

mod keyed;
mod windowed;

pub use self::keyed::KeyedStream;
pub(crate) use self::windowed::sealed as late_choice;
pub use self::windowed::{KeepLate, LateChoice, LateTaken, WindowedStream};
use crate::context::{EdgeId, Reader};
use crate::error::Refusal;
use crate::event::Data;
use crate::graph::GraphRef;
use crate::operator::{Fused, Operator, Port, Push, ToEdge};

/// A stream of events of type `T`.
///
/// As a parameter or a result of a function it is written `Stream<T>`. In between, each operator gives a `Stream<T, C>`
/// whose `C` is the chain so far; its type need never be written.
///
/// ```
/// use ministream::prelude::*;
///
/// fn doubled(numbers: Stream<i64>) -> Stream<i64> {
///     numbers.map(|n| n * 2).filter(|n| *n > 10).into_streams()
/// }
/// ```
#[must_use = "a stream does nothing until it is returned or read"]
pub struct Stream<T, C = Boundary<T>> {
    graph: GraphRef,
    chain: C,
    carries: PhantomData<fn() -> T>,
}

/// A chain of operators under construction. See [`Stream`].
pub trait Chain<T>: Sized + sealed::Chain<T> {}

impl<T, C: sealed::Chain<T>> Chain<T> for C {}

pub(crate) mod sealed {
    use super::*;

    pub trait Chain<T>: Sized {
        /// The late streams that nobody has taken yet, first window first: `((), A)`, `(((), A), B)`, ….
        type Side;

        /// Puts `rest` behind the last operator, and the whole into the graph.
        fn build<P: Push<T>>(self, graph: &GraphRef, rest: P) -> Self::Side;
    }
}

/// The beginning of a chain: an edge of the graph.
pub struct Boundary<T> {
    edge: EdgeId,
    carries: PhantomData<fn() -> T>,
}

impl<T: Data> sealed::Chain<T> for Boundary<T> {
    type Side = ();

    fn build<P: Push<T>>(self, graph: &GraphRef, rest: P) {
        graph.with(|graph| graph.add_chain(self.edge, rest));
    }
}

/// A chain with one more operator.
pub struct Then<T, C, O> {
    upstream: C,
    pub(crate) operator: O,
    name: Option<&'static str>,
    takes: PhantomData<fn(T)>,
}

impl<T: 'static, C: Chain<T>, O: Operator<T>> sealed::Chain<O::Out> for Then<T, C, O> {
    type Side = C::Side;

    fn build<P: Push<O::Out>>(self, graph: &GraphRef, rest: P) -> C::Side {
        let fused = Fused { operator: self.operator, rest, name: self.name, events_in: 0, events_out: 0 };
        self.upstream.build(graph, fused)
    }
}

/// A chain with a window whose late events wait to be taken by [`Stream::into_streams`].
pub struct WithLate<C, L> {
    chain: C,
    late: Stream<L>,
}

impl<U, L, C: Chain<U>> sealed::Chain<U> for WithLate<C, L> {
    type Side = (C::Side, Stream<L>);

    fn build<P: Push<U>>(self, graph: &GraphRef, rest: P) -> Self::Side {
        (self.chain.build(graph, rest), self.late)
    }
}

impl<T: Data> Stream<T> {
    pub(crate) fn on(graph: &GraphRef) -> Self {
        let edge = graph.with(|graph| graph.add_edge::<T>());
        Stream { graph: graph.clone(), chain: Boundary { edge, carries: PhantomData }, carries: PhantomData }
    }

    pub(crate) fn edge(&self) -> EdgeId {
        self.chain.edge
    }

    /// Says that nobody wants this stream: its events are dropped.
    ///
    /// Every stream of a pipeline has to be read, returned or discarded; one that is forgotten is an error.
    pub fn discard(self) {
        self.graph.with(|graph| graph.set_reader::<T>(self.chain.edge, Reader::Discarded));
    }
}

/// The same stream once more: both carry every event.
///
/// ```
/// use ministream::prelude::*;
///
/// fn sizes(numbers: Stream<i64>) -> (Stream<i64>, Stream<i64>) {
///     let small = numbers.clone().filter(|n| *n < 10);
///     let large = numbers.filter(|n| *n >= 10);
///     (small.into_streams(), large.into_streams())
/// }
/// ```
impl<T: Data> Clone for Stream<T> {
    fn clone(&self) -> Self {
        let edge = self.graph.with(|graph| graph.add_copy::<T>(self.chain.edge));
        Stream { graph: self.graph.clone(), chain: Boundary { edge, carries: PhantomData }, carries: PhantomData }
    }
}

impl<T, C> Stream<T, C> {
    pub(crate) fn graph(&self) -> &GraphRef {
        &self.graph
    }

    /// Puts an operator of your own behind the stream.
    ///
    /// For one that keeps something for each key, and sees events in the order of their times, see
    /// [`KeyedStream::process`].
    ///
    /// ```
    /// use ministream::operator::{Operator, Output, Push};
    /// use ministream::prelude::*;
    ///
    /// /// Lets every `n`th event through.
    /// struct Sample {
    ///     n: u64,
    ///     seen: u64,
    /// }
    ///
    /// impl<T> Operator<T> for Sample {
    ///     type Out = T;
    ///
    ///     fn on_event<P: Push<T>>(&mut self, at: Timestamp, event: T, out: &mut Output<'_, P>) {
    ///         self.seen += 1;
    ///         if self.seen % self.n == 0 {
    ///             out.emit(at, event);
    ///         }
    ///     }
    ///
    ///     fn name(&self) -> &'static str {
    ///         "sample"
    ///     }
    /// }
    ///
    /// fn sampled(numbers: Stream<i64>) -> Stream<i64> {
    ///     numbers.operator(Sample { n: 10, seen: 0 }).into_streams()
    /// }
    /// ```
    pub fn operator<O: Operator<T>>(self, operator: O) -> Stream<O::Out, Then<T, C, O>> {
        let chain = Then { upstream: self.chain, operator, name: None, takes: PhantomData };
        Stream { graph: self.graph, chain, carries: PhantomData }
    }

    /// Ends the chain in `last`.
    pub(crate) fn close<P: Push<T>>(self, last: P)
    where
        C: Chain<T>,
        C::Side: NothingBeside,
    {
        self.chain.build(&self.graph, last);
    }

    /// Refuses streams that are no part of this one's pipeline.
    pub(crate) fn refuse_foreign(&self, stage: &'static str, graph: &GraphRef) {
        if !self.graph.is(graph) {
            let refusal = Refusal::new(stage, "a stream of another pipeline cannot be read here");
            self.graph.with(|graph| graph.refusals.push(refusal));
        }
    }

    pub(crate) fn with_late_waiting<L>(self, late: Stream<L>) -> Stream<T, WithLate<C, L>> {
        Stream { graph: self.graph, chain: WithLate { chain: self.chain, late }, carries: PhantomData }
    }
}

impl<T: Data, C> Stream<T, C> {
    /// Closes the chain: the results, and behind them the late events of each window that has not been told what to do
    /// with them.
    ///
    /// `Stream<T>` for a chain without windows, `(Stream<T>, Stream<Late<E>>)` for a chain with one, and so on.
    pub fn into_streams(self) -> <C::Side as SideOutputs<T>>::Streams
    where
        C: Chain<T, Side: SideOutputs<T>>,
    {
        let results = Stream::on(&self.graph);
        let side = self.chain.build(&self.graph, ToEdge { edge: results.chain.edge });
        side.beside(results)
    }
}

impl<T, U, C, O> Stream<T, Then<U, C, O>> {
    /// Names the operator just added, for [`describe`](crate::Pipeline::describe), counters and errors.
    pub fn named(mut self, name: &'static str) -> Self {
        self.chain.name = Some(name);
        self
    }

    pub(crate) fn operator_mut(&mut self) -> &mut O {
        &mut self.chain.operator
    }

    /// A side output of the operator just added.
    pub(crate) fn open_port<S: Data>(&self) -> (Port<S>, Stream<S>) {
        let stream = Stream::on(&self.graph);
        (Port::to(stream.chain.edge), stream)
    }
}

impl<T, U, C, O, L> Stream<T, WithLate<Then<U, C, O>, L>> {
    /// Names the operator just added, for [`describe`](crate::Pipeline::describe), counters and errors.
    pub fn named(mut self, name: &'static str) -> Self {
        self.chain.chain.name = Some(name);
        self
    }
}

/// Says that all late events of a chain are taken care of: what goes on as one stream has nothing beside it.
#[diagnostic::on_unimplemented(
    message = "the late events of a window in front have nowhere to go",
    label = "late events are left over here",
    note = "take them in front of the aggregate, with `let (windows, late) = windows.with_late()`, or drop them with `discard_late()`"
)]
pub trait NothingBeside {}

impl NothingBeside for () {}

/// Lays the late streams of a chain beside its results. See [`Stream::into_streams`].
pub trait SideOutputs<T> {
    /// What the chain gives as a whole.
    type Streams;

    #[doc(hidden)]
    fn beside(self, results: Stream<T>) -> Self::Streams;
}

impl<T> SideOutputs<T> for () {
    type Streams = Stream<T>;

    fn beside(self, results: Stream<T>) -> Stream<T> {
        results
    }
}

impl<T, A> SideOutputs<T> for ((), A) {
    type Streams = (Stream<T>, A);

    fn beside(self, results: Stream<T>) -> Self::Streams {
        (results, self.1)
    }
}

impl<T, A, B> SideOutputs<T> for (((), A), B) {
    type Streams = (Stream<T>, A, B);

    fn beside(self, results: Stream<T>) -> Self::Streams {
        (results, self.0.1, self.1)
    }
}

impl<T, A, B, C> SideOutputs<T> for ((((), A), B), C) {
    type Streams = (Stream<T>, A, B, C);

    fn beside(self, results: Stream<T>) -> Self::Streams {
        (results, self.0.0.1, self.0.1, self.1)
    }
}

impl<T, C> fmt::Debug for Stream<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream<{}>", type_name::<T>())
    }
}

impl<T> fmt::Debug for Boundary<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Boundary")
    }
}

impl<T, C, O> fmt::Debug for Then<T, C, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Then")
    }
}

impl<C, L> fmt::Debug for WithLate<C, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithLate")
    }
}
