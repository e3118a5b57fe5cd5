//! What comes out of a pipeline: a drain for each stream of its return type.

use std::collections::VecDeque;
use std::mem;

use crate::context::{Context, Edge, EdgeId, Reader};
use crate::error::Refusal;
use crate::event::Data;
use crate::graph::GraphRef;
use crate::stream::Stream;

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
    /// Whether no result is left.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

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
                graph.set_reader::<T>(edge, Reader::Output { number, results: VecDeque::new() });
            } else {
                graph.refusals.push(Refusal::new("stream", "a stream of another pipeline cannot be returned here"));
            }
        });
        Buffer { edge, results: VecDeque::new() }
    }

    /// Lets the results that wait in the graph change places with the empty buffer.
    fn drain(&mut self, ctx: &mut Context) -> Drain<'_, T> {
        self.results.clear();
        if ctx.has_results {
            self.swap(ctx);
        }
        Drain { results: &mut self.results }
    }

    fn collect(mut self, ctx: &mut Context) -> Vec<T> {
        self.results.clear();
        self.swap(ctx);
        self.results.into()
    }

    fn swap(&mut self, ctx: &mut Context) {
        ctx.with(self.edge, |edge: &mut Edge<T>, _| {
            if let Reader::Output { results, .. } = &mut edge.reader {
                mem::swap(results, &mut self.results);
            }
        });
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
