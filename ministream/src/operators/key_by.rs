//! `key_by`: says by what a stream is grouped.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use crate::event::Key;
use crate::stream::{Chain, Stream};

/// Takes a key or an id out of an event.
pub trait Select<T>: Send + 'static {
    /// What it gives.
    type Selected: Clone + 'static;

    /// Borrowed from the event where that is possible, so that a value known already is never cloned.
    fn select<'a>(&self, event: &'a T) -> Cow<'a, Self::Selected>;
}

/// Selects by reference: `|c| &c.user`.
pub struct ByRef<F, K> {
    f: F,
    gives: PhantomData<fn() -> K>,
}

impl<F, K> ByRef<F, K> {
    pub(crate) fn new(f: F) -> Self {
        ByRef { f, gives: PhantomData }
    }
}

impl<T, K: Clone + 'static, F: Fn(&T) -> &K + Send + 'static> Select<T> for ByRef<F, K> {
    type Selected = K;

    #[inline]
    fn select<'a>(&self, event: &'a T) -> Cow<'a, K> {
        Cow::Borrowed((self.f)(event))
    }
}

/// Selects by value: `|c| (c.user.clone(), c.day)`.
pub struct ByValue<F, K> {
    f: F,
    gives: PhantomData<fn() -> K>,
}

impl<F, K> ByValue<F, K> {
    pub(crate) fn new(f: F) -> Self {
        ByValue { f, gives: PhantomData }
    }
}

impl<T, K: Clone + 'static, F: Fn(&T) -> K + Send + 'static> Select<T> for ByValue<F, K> {
    type Selected = K;

    #[inline]
    fn select<'a>(&self, event: &'a T) -> Cow<'a, K> {
        Cow::Owned((self.f)(event))
    }
}

/// A stream that is grouped by a key, and waits for a window.
#[must_use = "a keyed stream does nothing until it is windowed"]
pub struct KeyedStream<T, C, S> {
    pub(crate) stream: Stream<T, C>,
    pub(crate) select: S,
    pub(crate) name: Option<&'static str>,
}

impl<T: 'static, C: Chain<T>> Stream<T, C> {
    /// Groups the stream by a key that the events hold.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Clone, Serialize, Deserialize)]
    /// # struct Click { user: String, day: u32 }
    /// # fn f(clicks: Stream<Click>) {
    /// let by_user = clicks.key_by(|click| &click.user);
    /// # }
    /// ```
    pub fn key_by<K, F>(self, key: F) -> KeyedStream<T, C, ByRef<F, K>>
    where
        K: Key,
        F: Fn(&T) -> &K + Send + 'static,
    {
        KeyedStream { stream: self, select: ByRef::new(key), name: None }
    }

    /// Groups the stream by a key that is computed from the events.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Clone, Serialize, Deserialize)]
    /// # struct Click { user: String, day: u32 }
    /// # fn f(clicks: Stream<Click>) {
    /// let by_user_and_day = clicks.key_by_owned(|click| (click.user.clone(), click.day));
    /// # }
    /// ```
    pub fn key_by_owned<K, F>(self, key: F) -> KeyedStream<T, C, ByValue<F, K>>
    where
        K: Key,
        F: Fn(&T) -> K + Send + 'static,
    {
        KeyedStream { stream: self, select: ByValue::new(key), name: None }
    }
}

impl<T, C, S> KeyedStream<T, C, S> {
    /// Names the key, for [`describe`](crate::Pipeline::describe).
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }
}

impl<T, C, S> fmt::Debug for KeyedStream<T, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyedStream").field(&self.stream).finish()
    }
}

impl<F, K> fmt::Debug for ByRef<F, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ByRef")
    }
}

impl<F, K> fmt::Debug for ByValue<F, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ByValue")
    }
}
