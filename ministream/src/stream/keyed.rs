//! Streams grouped by a key.

use std::fmt;

use super::{Boundary, Stream};
use crate::event::Data;

/// A stream that is grouped by a key, and waits for a window.
#[must_use = "a keyed stream does nothing until it is windowed"]
pub struct KeyedStream<T, C, S> {
    pub(crate) stream: Stream<T, C>,
    pub(crate) select: S,
    pub(crate) name: Option<&'static str>,
}

impl<T, C, S> KeyedStream<T, C, S> {
    pub(crate) fn new(stream: Stream<T, C>, select: S) -> Self {
        KeyedStream { stream, select, name: None }
    }

    /// Names the key, for [`describe`](crate::Pipeline::describe).
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }
}

/// The same stream once more, as with [`Stream`].
impl<T: Data, S: Clone> Clone for KeyedStream<T, Boundary<T>, S> {
    fn clone(&self) -> Self {
        KeyedStream { stream: self.stream.clone(), select: self.select.clone(), name: self.name }
    }
}

impl<T, C, S> fmt::Debug for KeyedStream<T, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyedStream").field(&self.stream).finish()
    }
}
