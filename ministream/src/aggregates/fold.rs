//! `fold`: an accumulator of the user's own.

use std::fmt;

use super::methods::aggregate_method;
use crate::aggregate::Aggregate;
use crate::error::AggregateError;
use crate::event::Data;
use crate::time::Timestamp;

/// An accumulator of the user's own. See [`WindowedStream::fold`](crate::WindowedStream::fold).
pub struct Fold<B, F, M> {
    init: B,
    f: F,
    merge: M,
}

impl<B, F, M> Fold<B, F, M> {
    /// Starts with `init`, takes each event in with `f`, and makes one of two with `merge`.
    pub fn new<T>(init: B, f: F, merge: M) -> Self
    where
        F: Fn(B, &T) -> B + Send + 'static,
        M: Fn(B, B) -> B + Send + 'static,
    {
        Fold { init, f, merge }
    }
}

aggregate_method! {
    /// Starts with `init` for each window, and takes each event in with `f`. `merge` makes one of two accumulators: of
    /// sessions that grow together, or of parts of a window.
    ///
    /// The order of arrival does not matter only if it does not matter to `f` and `merge`. For a type with more to it,
    /// write an [`Aggregate`](crate::Aggregate).
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Clone, Serialize, Deserialize)]
    /// # struct Click { user: String, bits: u64 }
    /// fn seen(clicks: Stream<Click>) -> (Stream<Pane<String, u64>>, Stream<Late<Click>>) {
    ///     let windows = clicks.watermark(Bounded::new(secs(3))).key_by(|c| &c.user).window(Tumbling::new(secs(10)));
    ///     windows.fold(0, |bits, click| bits | click.bits, |a, b| a | b).into_streams()
    /// }
    /// ```
    pub fn fold<B, F, M>(init: B, f: F, merge: M) -> Fold<B, F, M>
    where { B: Data, F: Fn(B, &T) -> B + Send + 'static, M: Fn(B, B) -> B + Send + 'static }
    = Fold::new(init, f, merge)
}

impl<T, B, F, M> Aggregate<T> for Fold<B, F, M>
where
    B: Data,
    F: Fn(B, &T) -> B + Send + 'static,
    M: Fn(B, B) -> B + Send + 'static,
{
    type Acc = B;
    type Out = B;

    fn create(&self) -> B {
        self.init.clone()
    }

    fn add(&self, acc: &mut B, _at: Timestamp, event: &T) {
        let before = std::mem::replace(acc, self.init.clone());
        *acc = (self.f)(before, event);
    }

    fn merge(&self, acc: &mut B, other: B) {
        let before = std::mem::replace(acc, self.init.clone());
        *acc = (self.merge)(before, other);
    }

    fn finish(&self, acc: &B) -> Result<B, AggregateError> {
        Ok(acc.clone())
    }

    fn name(&self) -> &'static str {
        "fold"
    }
}

impl<B, F, M> fmt::Debug for Fold<B, F, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fold")
    }
}
