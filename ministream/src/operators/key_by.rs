//! `key_by`: says by what a stream is grouped.

use crate::event::Key;
use crate::select::{ByRef, ByValue};
use crate::stream::{KeyedStream, Stream};

impl<T: 'static, C> Stream<T, C> {
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
        KeyedStream::new(self, ByRef::new(key))
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
        KeyedStream::new(self, ByValue::new(key))
    }
}
