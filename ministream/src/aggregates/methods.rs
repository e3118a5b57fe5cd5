//! How an aggregate becomes a method: of windows, and of [`AggregatesOf`].

use std::fmt;
use std::marker::PhantomData;

use super::mapped::Mapped;
use crate::aggregate::Aggregate;
use crate::event::{Data, Key};
use crate::operators::Aggregated;
use crate::select::Select;
use crate::stream::{LateChoice, WindowedStream};
use crate::window::WindowKind;

/// The aggregates over events of type `T`, to name several of them at once. See
/// [`WindowedStream::aggregate_with`](crate::WindowedStream::aggregate_with).
pub struct AggregatesOf<T> {
    events: PhantomData<fn(T)>,
}

impl<T: Data> AggregatesOf<T> {
    pub(crate) fn new() -> Self {
        AggregatesOf { events: PhantomData }
    }

    /// Makes another value of the result of an aggregate, or of a tuple of them:
    /// `of.map((of.sum(|c| c.value), of.count()), |(total, n)| Totals { total, n })`.
    pub fn map<A, U, F>(&self, aggregate: A, f: F) -> Mapped<A, F>
    where
        A: Aggregate<T>,
        U: Data,
        F: Fn(A::Out) -> U + Send + 'static,
    {
        Mapped::new(aggregate, f)
    }
}

impl<T> Clone for AggregatesOf<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for AggregatesOf<T> {}

impl<T> fmt::Debug for AggregatesOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AggregatesOf")
    }
}

impl<T, C, S, W, L> WindowedStream<T, C, S, W, L>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    L: LateChoice<T>,
{
    /// Several aggregates of the same windows at once: a tuple of them gives a tuple of values, up to eight;
    /// [`map`](AggregatesOf::map) makes something else of it.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Clone, Serialize, Deserialize)]
    /// # struct Click { user: String, value: i64 }
    /// #[derive(Clone, Serialize, Deserialize)]
    /// struct Totals { total: i64, clicks: u64 }
    ///
    /// fn totals(clicks: Stream<Click>) -> (Stream<Pane<String, Totals>>, Stream<Late<Click>>) {
    ///     clicks
    ///         .watermark(Bounded::new(secs(3)))
    ///         .key_by(|c| &c.user)
    ///         .window(Tumbling::new(secs(10)))
    ///         .aggregate_with(|of| {
    ///             of.map((of.sum(|c| c.value), of.count()), |(total, clicks)| Totals { total, clicks })
    ///         })
    ///         .into_streams()
    /// }
    /// ```
    pub fn aggregate_with<A>(self, f: impl FnOnce(AggregatesOf<T>) -> A) -> Aggregated<T, C, S, W, L, A>
    where
        A: Aggregate<T>,
    {
        self.aggregate(f(AggregatesOf::new()))
    }
}

/// Adds an aggregate to both, under one text.
macro_rules! aggregate_method {
    (
        $(#[$doc:meta])*
        pub fn $name:ident<$($P:ident),*>($($arg:ident: $ty:ty),*) -> $out:ty
        where { $($bounds:tt)* }
        = $make:expr
    ) => {
        impl<T, C, S, W, L> $crate::WindowedStream<T, C, S, W, L>
        where
            T: $crate::event::Data,
            S: $crate::select::Select<T, Selected: $crate::event::Key>,
            W: $crate::window::WindowKind,
            L: $crate::stream::LateChoice<T>,
        {
            $(#[$doc])*
            pub fn $name<$($P),*>(self, $($arg: $ty),*) -> $crate::operators::Aggregated<T, C, S, W, L, $out>
            where
                $($bounds)*
            {
                self.aggregate($make)
            }
        }

        impl<T: $crate::event::Data> $crate::aggregates::AggregatesOf<T> {
            $(#[$doc])*
            pub fn $name<$($P),*>(&self, $($arg: $ty),*) -> $out
            where
                $($bounds)*
            {
                $make
            }
        }
    };
}

pub(crate) use aggregate_method;
