//! `process`: runs an operator of the user's own, key by key, in the order of event time.

use std::collections::BTreeSet;
use std::fmt;

use super::sides::{check_late, check_upstream};
use crate::counters::OperatorCounters;
use crate::event::{Data, Key};
use crate::held::{Complete, Held};
use crate::operator::{KeyedOperator, Operator, Output, Port, Ports, Push, Turn};
use crate::pane::Late;
use crate::plan::{Needs, Plan, Upstream};
use crate::select::Select;
use crate::state::{Map, give_back};
use crate::stream::{KeyedStream, Stream, Then};
use crate::time::Timestamp;

/// See [`KeyedStream::process`].
///
/// `K` is the key, and `X` the state of one; they follow from the others, and are named so that the type asks for nothing.
pub struct Process<T, S, O, K, X> {
    select: S,
    operator: O,
    /// Events that the watermark has not passed yet.
    held: Held<K, T>,
    states: Map<K, X>,
    timers: BTreeSet<(Timestamp, K)>,
    watermark: Timestamp,
    late: Port<Late<T>>,
    late_count: u64,
}

impl<T: Data, C, S: Select<T, Selected: Key>> KeyedStream<T, C, S> {
    /// Runs an operator of your own, with state for each key and timers in event time: see [`KeyedOperator`].
    ///
    /// It sees events in the order of their times; those that come behind the watermark are late, and leave by
    /// [`with_late`](Stream::with_late).
    pub fn process<O>(self, operator: O) -> Processed<T, C, S, O, S::Selected>
    where
        O: KeyedOperator<S::Selected, T>,
    {
        self.stream.operator(Process {
            select: self.select,
            operator,
            held: Held::new(),
            states: Map::default(),
            timers: BTreeSet::new(),
            watermark: Timestamp::MIN,
            late: Port::undecided(),
            late_count: 0,
        })
    }
}

/// What an operator over keys puts out.
pub type Processed<T, C, S, O, K> =
    Stream<<O as KeyedOperator<K, T>>::Out, Then<T, C, Process<T, S, O, K, <O as KeyedOperator<K, T>>::State>>>;

impl<T: Data, U: 'static, C, S, O, K, X> Stream<U, Then<T, C, Process<T, S, O, K, X>>> {
    /// The late events, as a stream of its own.
    pub fn with_late(mut self) -> (Self, Stream<Late<T>>) {
        let (port, late) = self.open_port();
        self.operator_mut().late = port;
        (self, late)
    }

    /// Drops late events on purpose; they are only counted.
    pub fn discard_late(mut self) -> Self {
        self.operator_mut().late.decide();
        self
    }
}

impl<T, S, O> Process<T, S, O, S::Selected, O::State>
where
    T: Data,
    S: Select<T, Selected: Key>,
    O: KeyedOperator<S::Selected, T>,
{
    fn advance<P: Push<O::Out>>(&mut self, complete: Complete, out: &mut Output<'_, P>) {
        let mut outputs = Vec::new();
        loop {
            let timer = self.timers.first().map(|(at, _)| *at).filter(|at| complete.reaches(*at));
            let event = self.held.first().map(|(at, _)| at).filter(|at| complete.covers(*at));
            // A timer comes in front of the events of its instant: those may not all be there.
            let at = match (timer, event) {
                (Some(timer), event) if event.is_none_or(|event| timer <= event) => {
                    let Some((at, key)) = self.timers.pop_first() else { return };
                    let timers = match complete {
                        Complete::To(_) => Some(&mut self.timers),
                        Complete::Ended => None,
                    };
                    let mut state = self.states.remove(&key);
                    self.operator.on_timer(&mut state, &mut Turn::new(&key, at, &mut outputs, timers));
                    self.keep(key, state);
                    at
                }
                (_, Some(_)) => {
                    let Some((at, key, events)) = self.held.take_first() else { return };
                    let mut state = self.states.remove(&key);
                    for event in events {
                        let mut turn = Turn::new(&key, at, &mut outputs, Some(&mut self.timers));
                        self.operator.on_event(event, &mut state, &mut turn);
                    }
                    self.keep(key, state);
                    at
                }
                _ => return,
            };
            for output in outputs.drain(..) {
                out.emit(at, output);
            }
        }
    }

    fn keep(&mut self, key: S::Selected, state: Option<O::State>) {
        match state {
            Some(state) => {
                self.states.insert(key, state);
            }
            None => give_back(&mut self.states),
        }
    }
}

impl<T, S, O> Operator<T> for Process<T, S, O, S::Selected, O::State>
where
    T: Data,
    S: Select<T, Selected: Key>,
    O: KeyedOperator<S::Selected, T>,
{
    type Out = O::Out;

    fn on_event<P: Push<O::Out>>(&mut self, at: Timestamp, event: T, out: &mut Output<'_, P>) {
        if at < self.watermark {
            self.late_count += 1;
            out.send(&self.late, at, Late::new(event, at, self.watermark));
            return;
        }
        let key = self.select.select(&event).into_owned();
        self.held.hold(at, key, event);
    }

    fn on_watermark<P: Push<O::Out>>(&mut self, to: Timestamp, out: &mut Output<'_, P>) {
        self.watermark = to;
        self.advance(Complete::To(to), out);
        out.watermark(to);
    }

    fn on_end<P: Push<O::Out>>(&mut self, out: &mut Output<'_, P>) {
        self.advance(Complete::Ended, out);
    }

    fn open(&mut self, upstream: Upstream, plan: &mut Plan<'_>) -> Upstream {
        check_upstream(self.operator.name(), upstream, plan);
        check_late(self.operator.name(), self.late.is_decided(), "with_late", plan);
        upstream
    }

    fn prepare(&mut self, behind: Needs, _plan: &mut Plan<'_>) -> Needs {
        Needs::of_what_is_complete(behind.admits)
    }

    fn ports(&self) -> Ports {
        [self.late.named("late"), None, None]
    }

    fn name(&self) -> &'static str {
        self.operator.name()
    }

    fn describe(&self) -> Vec<String> {
        vec!["key_by".to_owned(), self.operator.name().to_owned()]
    }

    fn count(&self, counters: &mut OperatorCounters) {
        counters.late = self.late_count;
        counters.rows = u64::try_from(self.held.len() + self.states.len()).unwrap_or(u64::MAX);
    }
}

impl<T, S, O, K, X> fmt::Debug for Process<T, S, O, K, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Process")
    }
}
