//! `window` and the aggregates over it: groups a keyed stream by windows of event time.

use std::collections::VecDeque;
use std::fmt;

use crate::aggregate::Aggregate;
use crate::counters::OperatorCounters;
use crate::error::{Failure, Refusal};
use crate::event::{Data, Key};
use crate::operator::{Operator, Output, Port, Ports, Push};
use crate::pane::{Late, Pane};
use crate::plan::{Needs, Plan, Retention, Upstream};
use crate::select::Select;
use crate::stream::{KeyedStream, LateChoice, Stream, Then, WindowedStream, late_choice};
use crate::time::Timestamp;
use crate::window::sealed::{self as kind, Firing, HandOut, PartsOf, Placed, Settings, WindowStore};
use crate::window::{Early, WindowKind};

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
        let WindowedStream { keyed: KeyedStream { stream, select, name: key_name }, windows, settings, late, name } =
            self;
        let graph = stream.graph().clone();
        let counts_late = late.counts();
        let (port, late) = late.open(&graph);
        let is_invertible = aggregate.unmerge(&mut aggregate.create(), &aggregate.create());
        let settings = Settings { is_invertible, ..settings };
        let operator = WindowOperator {
            select,
            key_name,
            store: windows.store(&settings),
            windows,
            windows_name: name,
            settings,
            early: Early::new(settings.emit),
            aggregate,
            watermark: Timestamp::MIN,
            late: port,
            counts_late,
            late_count: 0,
            partly_late_count: 0,
        };
        L::wrap(stream.operator(operator), late)
    }
}

/// The results of an aggregate over windows: a stream of [`Pane`]s.
pub type Aggregated<T, C, S, W, L, A> = Stream<
    Pane<<S as Select<T>>::Selected, <A as Aggregate<T>>::Out>,
    <L as late_choice::LateChoice<T>>::Chain<
        Then<T, C, WindowOperator<T, S, W, A, StoreOf<W, <S as Select<T>>::Selected, <A as Aggregate<T>>::Acc>>>,
    >,
>;

/// What keeps the windows of a kind.
type StoreOf<W, K, Acc> = <W as kind::WindowKind>::Store<K, Acc>;

/// Groups events by key and window, and aggregates each group.
///
/// `B` is what keeps the windows. It follows from the others, and is named so that the type asks for nothing: what does not
/// fit is said once, where it is wrong.
pub struct WindowOperator<T, S, W, A, B> {
    select: S,
    key_name: Option<&'static str>,
    windows: W,
    windows_name: Option<&'static str>,
    settings: Settings,
    early: Early,
    aggregate: A,
    store: B,
    /// [`Timestamp::MIN`] before there is one.
    watermark: Timestamp,
    late: Port<Late<T>>,
    /// False if another operator over the same windows does.
    counts_late: bool,
    late_count: u64,
    partly_late_count: u64,
}

impl<T, S, W, A> WindowOperator<T, S, W, A, StoreOf<W, S::Selected, A::Acc>>
where
    T: Data,
    S: Select<T, Selected: Key>,
    W: WindowKind,
    A: Aggregate<T>,
{
    #[inline]
    fn fire<P: Push<Pane<S::Selected, A::Out>>>(&mut self, out: &mut Output<'_, P>) {
        let watermark = self.watermark;
        if self.store.moves(watermark) {
            self.hand_out(out, |store, parts, emit| store.fire(watermark, parts, emit));
        }
    }

    fn hand_out<P: Push<Pane<S::Selected, A::Out>>>(
        &mut self,
        out: &mut Output<'_, P>,
        f: impl FnOnce(&mut StoreOf<W, S::Selected, A::Acc>, &PartsOf<'_, T, A>, &mut Results<'_, '_, T, A, S::Selected, P>),
    ) {
        let panes = match out.lend() {
            Some(output) => Panes::Output(output),
            None => Panes::Chain(Vec::new()),
        };
        let mut results = Results { aggregate: &self.aggregate, panes, out };
        f(&mut self.store, &PartsOf::new(&self.aggregate), &mut results);
        match results.panes {
            Panes::Output(output) => out.give_back(output),
            Panes::Chain(mut panes) => out.emit_all(&mut panes),
        }
    }

    /// There is no place for an event.
    #[cold]
    fn refuse<P>(&self, reason: String, out: &mut Output<'_, P>) {
        out.fail(Failure::of_operator(self.windows.stage(), reason));
        out.reject();
    }
}

/// Makes results of the windows that are handed out.
struct Results<'a, 'o, T, A: Aggregate<T>, K, P> {
    aggregate: &'a A,
    panes: Panes<K, A::Out>,
    out: &'a mut Output<'o, P>,
}

/// Where results go.
enum Panes<K, V> {
    /// To the caller of the pipeline: there is nothing between.
    Output(VecDeque<Pane<K, V>>),
    /// On, by the hundred, with their event times.
    Chain(Vec<(Timestamp, Pane<K, V>)>),
}

impl<T, A, K, P> HandOut<K, A::Acc> for Results<'_, '_, T, A, K, P>
where
    K: Key,
    A: Aggregate<T>,
    P: Push<Pane<K, A::Out>>,
{
    #[inline]
    fn take(&mut self, firing: Firing<'_, K, A::Acc>) -> bool {
        const AT_ONCE: usize = 128;
        let Firing { key, window, acc, timing, update, replaces } = firing;
        match self.aggregate.finish(acc) {
            Ok(value) => {
                let pane = Pane { key: key.clone(), window, value, timing, update, replaces };
                match &mut self.panes {
                    Panes::Output(output) => output.push_back(pane),
                    Panes::Chain(panes) => {
                        panes.push((window.last_instant(), pane));
                        if panes.len() == AT_ONCE {
                            self.out.emit_all(panes);
                        }
                    }
                }
                true
            }
            Err(reason) => {
                self.out.fail(Failure::of_window(self.aggregate.name(), key, window, reason));
                false
            }
        }
    }
}

/// A window needs a watermark, and counts nothing that can be corrected.
fn check_upstream(stage: &str, upstream: Upstream, plan: &mut Plan<'_>) {
    if upstream.clock.is_none() {
        let reason = "no watermark reaches it, so it would never fire: say `delay = 3s`, or put a stage such as \
                      `watermark(delay = 3s)` in front";
        plan.refuse(Refusal::new(stage, reason));
    }
    if upstream.corrections {
        let reason = "the results in front of it can be corrected, and each correction would be counted beside what it \
                      corrects: leave `lateness` and `emit` out in front";
        plan.refuse(Refusal::new(stage, reason));
    }
}

/// `key_by`, `tumbling(10s, lateness = 5s) as totals`, `sum`
fn described(
    stage: &str,
    (mut arguments, more): (Vec<String>, Vec<String>),
    [key_name, windows_name]: [Option<&str>; 2],
    aggregate: &str,
) -> Vec<String> {
    arguments.extend(more);
    let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
    let named = |stage: String, name: Option<&str>| match name {
        Some(name) => format!("{stage} as {name}"),
        None => stage,
    };
    vec![named("key_by".to_owned(), key_name), named(format!("{stage}{arguments}"), windows_name), aggregate.to_owned()]
}

impl<T, S, W, A> Operator<T> for WindowOperator<T, S, W, A, StoreOf<W, S::Selected, A::Acc>>
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
                self.partly_late_count += u64::from(partly_late && self.counts_late);
                if due {
                    self.fire(out);
                }
                if self.early.at_event() {
                    self.hand_out(out, |store, _, emit| store.fire_early(emit));
                }
            }
            Placed::Late => {
                self.late_count += u64::from(self.counts_late);
                out.send(&self.late, at, Late::new(event, at, self.watermark));
            }
            Placed::OutOfRange => {
                self.refuse(format!("an event at {at} has no window that fits in 64 bits"), out);
            }
            Placed::TooManyKeys => {
                self.refuse(format!("an event at {at} has a new key, and 4294967295 keys are open"), out);
            }
        }
    }

    fn on_watermark<P: Push<Self::Out>>(&mut self, to: Timestamp, out: &mut Output<'_, P>) {
        self.watermark = to;
        self.fire(out);
        if self.early.at_watermark(to) {
            self.hand_out(out, |store, _, emit| store.fire_early(emit));
        }
        out.watermark(to);
    }

    fn on_end<P: Push<Self::Out>>(&mut self, out: &mut Output<'_, P>) {
        self.hand_out(out, |store, parts, emit| store.finish(parts, emit));
    }

    fn upcoming<P: Push<Self::Out>>(&mut self, events: &[(Timestamp, T)], _out: &mut Output<'_, P>) {
        let WindowOperator { select, store, .. } = self;
        store.upcoming(events.iter().map_while(|(_, event)| select.peek(event)));
    }

    fn open(&mut self, upstream: Upstream, plan: &mut Plan<'_>) -> Upstream {
        check_upstream(self.windows.stage(), upstream, plan);
        plan.refuse_all(self.windows.refusals(&self.settings));
        plan.refuse_all(self.settings.refusals(self.windows.stage()));
        plan.refuse_for(self.aggregate.name(), self.aggregate.refusals());
        Upstream { clock: upstream.clock, corrections: self.settings.corrections() }
    }

    fn prepare(&mut self, behind: Needs, _plan: &mut Plan<'_>) -> Needs {
        let retention = match self.windows.retention() {
            Some(span) => Retention::For(span.plus(self.settings.lateness())),
            None => Retention::ForEver,
        };
        // An event whose results have no place behind is rejected, too.
        Needs { retention, admits: self.windows.admits(&behind.admits), clocks: Vec::new(), goes_out: false }
    }

    fn ports(&self) -> Ports {
        [self.late.named("late"), None, None]
    }

    fn describe(&self) -> Vec<String> {
        let arguments = (self.windows.arguments(), self.settings.arguments());
        let names = [self.key_name, self.windows_name];
        described(self.windows.stage(), arguments, names, self.aggregate.name())
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

impl<T, S, W, A, B> fmt::Debug for WindowOperator<T, S, W, A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowOperator").field("settings", &self.settings).finish_non_exhaustive()
    }
}
