//! `window` and the aggregates over it: groups a keyed stream by windows of event time.

use std::fmt;
use std::time::Duration;

use crate::aggregate::Aggregate;
use crate::counters::OperatorCounters;
use crate::error::{Failure, Refusal};
use crate::event::{Data, Key};
use crate::operator::{Operator, Output, Port, Ports, Push};
use crate::pane::{Late, Pane};
use crate::plan::{Needs, Plan, Retention, Upstream};
use crate::select::Select;
use crate::span::{Span, whole_micros};
use crate::stream::{KeyedStream, LateChoice, Stream, Then, WindowedStream, late_choice};
use crate::time::Timestamp;
use crate::window::WindowKind;
use crate::window::sealed::{Placed, WindowStore};

impl<T, C, S, W, L> WindowedStream<T, C, S, W, L>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    L: LateChoice<T>,
{
    /// Makes one value of the events of each window. For the usual ones there are methods: [`sum`](Self::sum),
    /// [`count`](Self::count), …; a tuple of aggregates gives a tuple of values.
    ///
    /// ```
    /// # use ministream::prelude::*;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Clone, Serialize, Deserialize)]
    /// # struct Click { user: String, value: i64 }
    /// fn totals(clicks: Stream<Click>) -> (Stream<Pane<String, (i64, u64)>>, Stream<Late<Click>>) {
    ///     clicks
    ///         .watermark(Bounded::new(secs(3)))
    ///         .key_by(|c| &c.user)
    ///         .window(Tumbling::new(secs(10)))
    ///         .aggregate((Sum::of(|c: &Click| c.value), Count))
    ///         .into_streams()
    /// }
    /// ```
    pub fn aggregate<A>(self, aggregate: A) -> Aggregated<T, C, S, W, L, A>
    where
        A: Aggregate<T>,
    {
        let WindowedStream { keyed: KeyedStream { stream, select, name: key_name }, windows, lateness, late, name } =
            self;
        let graph = stream.graph().clone();
        let (port, late) = late.open(&graph);
        let span = Span::of(lateness);
        let operator = WindowOperator {
            select,
            key_name,
            store: windows.store(span),
            windows,
            windows_name: name,
            lateness,
            aggregate,
            watermark: Timestamp::MIN,
            late: port,
            late_count: 0,
            partly_late_count: 0,
        };
        L::wrap(stream.operator(operator), late)
    }
}

/// The results of an aggregate over windows: a stream of [`Pane`]s.
pub type Aggregated<T, C, S, W, L, A> = Stream<
    Pane<<S as Select<T>>::Selected, <A as Aggregate<T>>::Out>,
    <L as late_choice::LateChoice<T>>::Chain<Then<T, C, WindowOperator<T, S, W, A>>>,
>;

/// Groups events by key and window, and aggregates each group.
pub struct WindowOperator<T, S, W, A>
where
    T: 'static,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    A: Aggregate<T>,
{
    select: S,
    key_name: Option<&'static str>,
    windows: W,
    windows_name: Option<&'static str>,
    lateness: Duration,
    aggregate: A,
    store: W::Store<S::Selected, T, A>,
    /// [`Timestamp::MIN`] before there is one.
    watermark: Timestamp,
    late: Port<Late<T>>,
    late_count: u64,
    partly_late_count: u64,
}

impl<T, S, W, A> WindowOperator<T, S, W, A>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    A: Aggregate<T>,
{
    fn fire<P: Push<Pane<S::Selected, A::Out>>>(&mut self, out: &mut Output<'_, P>) {
        let aggregate = &self.aggregate;
        self.store.fire(self.watermark, |firing| match aggregate.finish(firing.acc) {
            Ok(value) => {
                let pane = Pane {
                    key: firing.key.clone(),
                    window: firing.window,
                    value,
                    update: firing.update,
                    replaces: firing.replaces,
                };
                out.emit(firing.window.last_instant(), pane);
                true
            }
            Err(reason) => {
                out.fail(Failure::of_window(aggregate.name(), firing.key, firing.window, reason));
                false
            }
        });
    }

    fn refusals(&self) -> Vec<Refusal> {
        let mut refusals = self.windows.refusals();
        if !whole_micros(self.lateness) && self.lateness != Duration::MAX {
            let reason = format!("lateness is {:?}, and event time counts whole microseconds", self.lateness);
            refusals.push(Refusal::new(self.stage(), reason));
        }
        refusals
    }

    /// `tumbling`
    fn stage(&self) -> String {
        let described = self.windows.describe();
        described.split('(').next().unwrap_or_default().to_owned()
    }
}

impl<T, S, W, A> Operator<T> for WindowOperator<T, S, W, A>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    A: Aggregate<T>,
{
    type Out = Pane<S::Selected, A::Out>;

    #[inline]
    fn on_event<P: Push<Self::Out>>(&mut self, at: Timestamp, event: T, out: &mut Output<'_, P>) {
        let key = self.select.select(&event);
        match self.store.add(key, at, &event, &self.aggregate, self.watermark) {
            Placed::Taken { partly_late, due } => {
                self.partly_late_count += u64::from(partly_late);
                if due {
                    self.fire(out);
                }
            }
            Placed::Late => {
                self.late_count += 1;
                out.send(&self.late, at, Late::new(event, at, self.watermark));
            }
            Placed::OutOfRange => {
                let reason = format!("an event at {at} has no window that fits in 64 bits");
                out.fail(Failure::of_operator(&self.stage(), reason));
                out.reject();
            }
        }
    }

    fn on_watermark<P: Push<Self::Out>>(&mut self, to: Timestamp, out: &mut Output<'_, P>) {
        self.watermark = to;
        self.fire(out);
        out.watermark(to);
    }

    fn on_end<P: Push<Self::Out>>(&mut self, out: &mut Output<'_, P>) {
        self.watermark = Timestamp::MAX;
        self.fire(out);
    }

    fn open(&mut self, upstream: Upstream, plan: &mut Plan<'_>) -> Upstream {
        let refusals = self.refusals();
        if upstream.clock.is_none() {
            let reason = "no watermark reaches it, so it would never fire: say `delay = 3s`, or put a stage such as \
                          `watermark(delay = 3s)` in front";
            plan.refuse(Refusal::new(self.stage(), reason));
        }
        if upstream.corrections {
            let reason = "the results in front of it can be corrected, and each correction would be counted beside what it \
                          corrects: leave `lateness` out in front";
            plan.refuse(Refusal::new(self.stage(), reason));
        }
        for refusal in refusals {
            plan.refuse(refusal);
        }
        for reason in self.aggregate.refusals() {
            plan.refuse(Refusal::new(self.aggregate.name(), reason));
        }
        Upstream { clock: upstream.clock, corrections: !Span::of(self.lateness).is_zero() }
    }

    fn prepare(&mut self, _behind: Needs, _plan: &mut Plan<'_>) -> Needs {
        let retention = match self.windows.retention() {
            Some(span) => Retention::For(span.plus(Span::of(self.lateness))),
            None => Retention::ForEver,
        };
        Needs { retention, admits: self.windows.admits(), clocks: Vec::new() }
    }

    fn ports(&self) -> Ports {
        [self.late.named("late"), None, None]
    }

    fn describe(&self) -> Vec<String> {
        let named = |stage: String, name: Option<&str>| match name {
            Some(name) => format!("{stage} as {name}"),
            None => stage,
        };
        let mut windows = self.windows.describe();
        if !Span::of(self.lateness).is_zero() && windows.pop().is_some() {
            windows.push_str(&format!(", lateness = {})", Span::of(self.lateness)));
        }
        vec![
            named("key_by".to_owned(), self.key_name),
            named(windows, self.windows_name),
            self.aggregate.name().to_owned(),
        ]
    }

    fn name(&self) -> &'static str {
        self.windows_name.unwrap_or(self.aggregate.name())
    }

    fn count(&self, counters: &mut OperatorCounters) {
        counters.late = self.late_count;
        counters.partly_late = self.partly_late_count;
        counters.open_windows = u64::try_from(self.store.open_windows()).unwrap_or(u64::MAX);
    }
}

impl<T, S, W, A> fmt::Debug for WindowOperator<T, S, W, A>
where
    T: 'static,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    A: Aggregate<T>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowOperator").field("lateness", &self.lateness).finish_non_exhaustive()
    }
}
