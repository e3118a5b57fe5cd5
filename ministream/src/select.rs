//! How a key or an id is taken out of an event: borrowed where it lies there, or made.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Takes a key or an id out of an event.
pub trait Select<T>: Send + 'static {
    /// What it gives.
    type Selected: Clone + 'static;

    /// Borrowed from the event where that is possible, so that a value known already is never cloned.
    fn select<'a>(&self, event: &'a T) -> Cow<'a, Self::Selected>;

    /// The same, if it lies in the event and costs nothing to take.
    #[doc(hidden)]
    fn peek<'a>(&self, _event: &'a T) -> Option<&'a Self::Selected> {
        None
    }
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

    #[inline]
    fn peek<'a>(&self, event: &'a T) -> Option<&'a K> {
        Some((self.f)(event))
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

impl<F: Clone, K> Clone for ByRef<F, K> {
    fn clone(&self) -> Self {
        ByRef::new(self.f.clone())
    }
}

impl<F: Clone, K> Clone for ByValue<F, K> {
    fn clone(&self) -> Self {
        ByValue::new(self.f.clone())
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
