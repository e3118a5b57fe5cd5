//! What goes into a pipeline: the streams that its function takes.

use std::fmt;
use std::marker::PhantomData;

use crate::context::EdgeId;
use crate::event::{Data, Event};
use crate::graph::GraphRef;
use crate::stream::Stream;

/// Names one of the streams that a pipeline takes, with the type of its events. See
/// [`Pipeline::inputs`](crate::Pipeline::inputs).
pub struct Input<T> {
    pub(super) source: usize,
    pub(super) pipeline: u64,
    pub(super) takes: PhantomData<fn(T)>,
}

impl<T> Clone for Input<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Input<T> {}

impl<T> fmt::Debug for Input<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Input({})", self.source)
    }
}

/// In the type of a [`Pipeline`](crate::Pipeline), the events of several sources: `Pipeline<Sources<(Click, View)>, …>`.
#[derive(Debug)]
pub struct Sources<T>(PhantomData<fn(T)>);

/// What a pipeline takes: events of one type, or of up to eight ([`Sources`]).
pub trait Inputs: sealed::Inputs {}

impl<I: sealed::Inputs> Inputs for I {}

/// A function from streams to streams: what a pipeline is made of.
///
/// It takes up to eight streams and returns one, or a tuple of them. A function with settings is handed in as a closure:
/// `|clicks| spend(clicks, secs(10))`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function from streams to streams",
    label = "expected `fn(Stream<…>, …) -> Stream<…>`, with one to eight streams",
    note = "settings are handed in by a closure: `|clicks| spend(clicks, secs(10))`; its streams may need their type: `|clicks: Stream<Click>| …`"
)]
pub trait Wire<M> {
    /// The events it takes.
    type Inputs;
    /// The streams it returns.
    type Outputs;

    #[doc(hidden)]
    fn wire(self, graph: &GraphRef) -> (Vec<EdgeId>, Self::Outputs);
}

pub(crate) mod sealed {
    pub trait Inputs {
        /// What names them.
        type Names;

        fn names(pipeline: u64) -> Self::Names;
    }
}

impl<T: Event + Data> sealed::Inputs for T {
    type Names = Input<T>;

    fn names(pipeline: u64) -> Input<T> {
        Input { source: 0, pipeline, takes: PhantomData }
    }
}

macro_rules! functions {
    ($(($($A:ident $a:ident),+))*) => {$(
        impl<F, O, $($A: Data),+> Wire<fn($(Stream<$A>),+) -> O> for F
        where
            F: FnOnce($(Stream<$A>),+) -> O,
        {
            type Inputs = functions!(@inputs $($A)+);
            type Outputs = O;

            fn wire(self, graph: &GraphRef) -> (Vec<EdgeId>, O) {
                $(let $a = Stream::<$A>::on(graph);)+
                let edges = vec![$($a.edge()),+];
                (edges, self($($a),+))
            }
        }
    )*};
    (@inputs $A:ident) => { $A };
    (@inputs $($A:ident)+) => { Sources<($($A,)+)> };
}

macro_rules! sources {
    ($(($($A:ident $number:literal),+))*) => {$(
        impl<$($A: Event + Data),+> sealed::Inputs for Sources<($($A,)+)> {
            type Names = ($(Input<$A>,)+);

            fn names(pipeline: u64) -> Self::Names {
                ($(Input { source: $number, pipeline, takes: PhantomData::<fn($A)> },)+)
            }
        }
    )*};
}

functions! {
    (A a)
    (A a, B b)
    (A a, B b, C c)
    (A a, B b, C c, D d)
    (A a, B b, C c, D d, E e)
    (A a, B b, C c, D d, E e, G g)
    (A a, B b, C c, D d, E e, G g, H h)
    (A a, B b, C c, D d, E e, G g, H h, J j)
}

sources! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, G 5)
    (A 0, B 1, C 2, D 3, E 4, G 5, H 6)
    (A 0, B 1, C 2, D 3, E 4, G 5, H 6, J 7)
}
