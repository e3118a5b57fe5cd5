//! The contract of operators that keep something for each key.

use std::collections::BTreeSet;

use crate::event::{Data, Key};
use crate::span::Span;
use crate::time::Timestamp;

/// An operator of your own over a keyed stream, with state for each key and timers in event time.
///
/// It sees the events of all keys in the order of their event times, once the watermark has passed them; events with the
/// same time come by key, and those of one key in an order that does not depend on their arrival. So its results are the
/// same however the events are shuffled, within the delay of the watermark. An event behind the watermark is late, and
/// leaves by the port `late`.
///
/// It does no I/O and reads no clock. See [`KeyedStream::process`](crate::KeyedStream::process).
///
/// # Example
///
/// Says when a key has been silent for a minute:
///
/// ```
/// use ministream::operator::{KeyedOperator, Turn};
/// use ministream::prelude::*;
///
/// struct Silent;
///
/// impl<T> KeyedOperator<String, T> for Silent {
///     type State = Timestamp;
///     type Out = String;
///
///     fn on_event(&mut self, _event: T, last: &mut Option<Timestamp>, turn: &mut Turn<'_, String, String>) {
///         *last = Some(turn.at());
///         turn.set_timer(turn.at() + minutes(1));
///     }
///
///     fn on_timer(&mut self, last: &mut Option<Timestamp>, turn: &mut Turn<'_, String, String>) {
///         if last.is_some_and(|last| last + minutes(1) == turn.at()) {
///             turn.emit(format!("{} is silent", turn.key()));
///             *last = None;
///         }
///     }
///
///     fn name(&self) -> &'static str {
///         "silent"
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operator over a stream keyed by `{K}` with events of type `{T}`",
    label = "not a keyed operator for this stream",
    note = "write `impl KeyedOperator<{K}, {T}> for {Self}`; one without keys stands in front of the `key_by`"
)]
pub trait KeyedOperator<K, T>: Send + 'static {
    /// What it keeps for a key. A key's state begins as None, and is let go when it is None again.
    type State: Data;
    /// What it puts out.
    type Out: 'static;

    /// Takes an event of the key that it is the turn of.
    fn on_event(&mut self, event: T, state: &mut Option<Self::State>, turn: &mut Turn<'_, K, Self::Out>);

    /// A timer of the key has come: the watermark has reached it, and all events before it have been seen. At the end of
    /// the input the timers that are left come as well, each once.
    fn on_timer(&mut self, _state: &mut Option<Self::State>, _turn: &mut Turn<'_, K, Self::Out>) {}

    /// The name of the stage, for errors, counters and descriptions.
    fn name(&self) -> &'static str;
}

/// The turn of one key: its event, or its timer.
#[derive(Debug)]
pub struct Turn<'a, K, O> {
    key: &'a K,
    at: Timestamp,
    outputs: &'a mut Vec<O>,
    /// None at a timer behind the end of the input: nothing comes after it.
    timers: Option<&'a mut BTreeSet<(Timestamp, K)>>,
}

impl<'a, K: Key, O> Turn<'a, K, O> {
    pub(crate) fn new(
        key: &'a K,
        at: Timestamp,
        outputs: &'a mut Vec<O>,
        timers: Option<&'a mut BTreeSet<(Timestamp, K)>>,
    ) -> Self {
        Turn { key, at, outputs, timers }
    }

    /// The key.
    pub fn key(&self) -> &K {
        self.key
    }

    /// The time of the event, or of the timer.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// Puts out a result, with the time of this turn as its event time.
    pub fn emit(&mut self, result: O) {
        self.outputs.push(result);
    }

    /// Asks for a turn of this key when the watermark has reached `at`. One that is set twice comes once; one that is not
    /// in the future comes a microsecond from now.
    pub fn set_timer(&mut self, at: Timestamp) {
        let at = at.max(self.at.plus(Span::from_micros(1)));
        if let Some(timers) = &mut self.timers {
            timers.insert((at, self.key.clone()));
        }
    }

    /// Takes a timer of this key back.
    pub fn cancel_timer(&mut self, at: Timestamp) {
        if let Some(timers) = &mut self.timers {
            timers.remove(&(at, self.key.clone()));
        }
    }
}
