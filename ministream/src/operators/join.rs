//! `join`: pairs the rows of two streams that belong together in event time.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use super::sides::{Sides, check_late, check_upstream, together};
use crate::counters::OperatorCounters;
use crate::error::Refusal;
use crate::event::{Data, Key};
use crate::held::{Complete, Held};
use crate::operator::{Operator, Output, Port, Ports, Push};
use crate::pane::Late;
use crate::plan::{Needs, Plan, Upstream};
use crate::select::Select;
use crate::span::Span;
use crate::state::Map;
use crate::stream::{Boundary, Chain, KeyedStream, NothingBeside, Stream, Then};
use crate::time::{Offset, Timestamp};

/// See [`KeyedStream::join`].
pub struct Join<A, B, L: Select<A>, R, O> {
    left_key: L,
    right_key: R,
    within: RangeInclusive<Offset>,
    /// Rows that the watermark has not passed yet.
    held: Held<L::Selected, Sides<A, B>>,
    /// Rows that it has, and that can still find a partner.
    rows: Map<L::Selected, Rows<A, B>>,
    /// When rows of a key have seen all of their partners.
    closes: BTreeSet<(Timestamp, L::Selected)>,
    watermark: Timestamp,
    late_left: Port<Late<A>>,
    late_right: Port<Late<B>>,
    late: u64,
    kept: usize,
    gives: PhantomData<fn() -> O>,
}

/// What a join gives.
pub trait JoinKind<A, B>: Send + 'static {
    /// A row of its results.
    type Out: 'static;

    /// Of two rows.
    fn pair(left: &A, right: &B) -> Self::Out;

    /// Of a row of the left side without a partner.
    fn alone(left: A) -> Option<Self::Out>;

    /// The stage.
    const NAME: &'static str;

    /// Whether rows without a partner are given.
    const OUTER: bool;
}

/// Pairs only: `(A, B)`.
#[derive(Debug)]
pub struct Inner;

/// Every row of the left side, with a partner or without: `(A, Option<B>)`.
#[derive(Debug)]
pub struct LeftOuter;

impl<A: Data, B: Data> JoinKind<A, B> for Inner {
    type Out = (A, B);

    fn pair(left: &A, right: &B) -> (A, B) {
        (left.clone(), right.clone())
    }

    fn alone(_left: A) -> Option<(A, B)> {
        None
    }

    const NAME: &'static str = "join";
    const OUTER: bool = false;
}

impl<A: Data, B: Data> JoinKind<A, B> for LeftOuter {
    type Out = (A, Option<B>);

    fn pair(left: &A, right: &B) -> (A, Option<B>) {
        (left.clone(), Some(right.clone()))
    }

    fn alone(left: A) -> Option<(A, Option<B>)> {
        Some((left, None))
    }

    const NAME: &'static str = "left_join";
    const OUTER: bool = true;
}

/// The results of a join.
pub type Joined<A, B, L, R, O> =
    Stream<<O as JoinKind<A, B>>::Out, Then<Sides<A, B>, Boundary<Sides<A, B>>, Join<A, B, L, R, O>>>;

impl<A, C, L> KeyedStream<A, C, L>
where
    A: Data,
    C: Chain<A, Side: NothingBeside>,
    L: Select<A, Selected: Key>,
{
    /// Pairs the rows of two keyed streams whose timestamps lie near enough: for a row at `t`, the rows of the other stream
    /// with the same key from `t + within.start()` to `t + within.end()`, both included (an interval join, as in Flink).
    ///
    /// A pair comes when the watermark, the smaller of both sides, has passed both of its rows. So the results and their
    /// order do not depend on the order of arrival: they come by the later timestamp of the two, which is their event
    /// time, then by key, by the time of the left row, and of the right row. A row is kept until no partner can come any
    /// more. A row behind the watermark is late, and leaves by [`with_late_left`](Stream::with_late_left) or
    /// [`with_late_right`](Stream::with_late_right).
    ///
    /// ```
    /// use ministream::prelude::*;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Clone, Serialize, Deserialize)]
    /// struct Click { user: String, page: u32 }
    /// #[derive(Clone, Serialize, Deserialize)]
    /// struct Order { user: String, cents: u64 }
    ///
    /// /// Orders, each with the clicks of the minute before it.
    /// fn led_to(orders: Stream<Order>, clicks: Stream<Click>) -> Stream<(Order, Click)> {
    ///     let orders = orders.watermark(Bounded::new(secs(5))).key_by(|order| &order.user);
    ///     let clicks = clicks.watermark(Bounded::new(secs(5))).key_by(|click| &click.user);
    ///     orders.join(clicks, before(minutes(1))..=after(secs(0))).discard_late().into_streams()
    /// }
    /// ```
    pub fn join<B, D, R>(self, right: KeyedStream<B, D, R>, within: RangeInclusive<Offset>) -> Joined<A, B, L, R, Inner>
    where
        B: Data,
        D: Chain<B, Side: NothingBeside>,
        R: Select<B, Selected = L::Selected>,
    {
        Join::of(self, right, within)
    }

    /// As [`join`](KeyedStream::join), with every row of the left side: one that finds no partner comes alone, once none
    /// can come any more. Its event time is the last at which one could have come.
    pub fn left_join<B, D, R>(
        self,
        right: KeyedStream<B, D, R>,
        within: RangeInclusive<Offset>,
    ) -> Joined<A, B, L, R, LeftOuter>
    where
        B: Data,
        D: Chain<B, Side: NothingBeside>,
        R: Select<B, Selected = L::Selected>,
    {
        Join::of(self, right, within)
    }
}

impl<A: Data, B: Data, L: Select<A>, R, O: JoinKind<A, B>> Joined<A, B, L, R, O> {
    /// The late rows of the left side, as a stream of its own.
    pub fn with_late_left(mut self) -> (Self, Stream<Late<A>>) {
        let (port, late) = self.open_port();
        self.operator_mut().late_left = port;
        (self, late)
    }

    /// The late rows of the right side, as a stream of its own.
    pub fn with_late_right(mut self) -> (Self, Stream<Late<B>>) {
        let (port, late) = self.open_port();
        self.operator_mut().late_right = port;
        (self, late)
    }

    /// Drops the late rows that are not taken on purpose; they are only counted.
    pub fn discard_late(mut self) -> Self {
        let join = self.operator_mut();
        join.late_left.decide();
        join.late_right.decide();
        self
    }
}

/// The rows of one key, each side in the order of time.
#[derive(Debug)]
struct Rows<A, B> {
    left: VecDeque<LeftRow<A>>,
    right: VecDeque<(Timestamp, B)>,
}

#[derive(Debug)]
struct LeftRow<A> {
    at: Timestamp,
    row: A,
    has_partner: bool,
}

impl<A, B, L, R, O> Join<A, B, L, R, O>
where
    A: Data,
    B: Data,
    L: Select<A, Selected: Key>,
    R: Select<B, Selected = L::Selected>,
    O: JoinKind<A, B>,
{
    fn of<C, D>(
        left: KeyedStream<A, C, L>,
        right: KeyedStream<B, D, R>,
        within: RangeInclusive<Offset>,
    ) -> Joined<A, B, L, R, O>
    where
        C: Chain<A, Side: NothingBeside>,
        D: Chain<B, Side: NothingBeside>,
    {
        let (both, left_key, right_key) = together(O::NAME, left, right);
        both.operator(Join {
            left_key,
            right_key,
            within,
            held: Held::new(),
            rows: Map::default(),
            closes: BTreeSet::new(),
            watermark: Timestamp::MIN,
            late_left: Port::undecided(),
            late_right: Port::undecided(),
            late: 0,
            kept: 0,
            gives: PhantomData,
        })
    }

    fn lower(&self) -> i64 {
        self.within.start().as_micros()
    }

    fn upper(&self) -> i64 {
        self.within.end().as_micros()
    }

    /// The last instant at which a partner of a row of the left side can come.
    fn left_closes(&self, at: Timestamp) -> Timestamp {
        at.plus(Span::from_micros(self.upper()))
    }

    /// The last instant at which a partner of a row of the right side can come.
    fn right_closes(&self, at: Timestamp) -> Timestamp {
        at.plus(Span::from_micros(self.lower().saturating_neg()))
    }

    fn advance<P: Push<O::Out>>(&mut self, complete: Complete, out: &mut Output<'_, P>) {
        loop {
            let held = self.held.first().filter(|(at, _)| complete.covers(*at));
            let closing = self.closes.first().filter(|(at, _)| complete.covers(*at)).map(|(at, key)| (*at, key));
            // Rows first: those of the instant at which others close are their last partners.
            match (held, closing) {
                (Some(held), closing) if closing.is_none_or(|closing| held <= closing) => self.take_rows(out),
                (_, Some(_)) => self.close_rows(out),
                _ => break,
            }
        }
    }

    /// Pairs the earliest rows that wait with all that came before them, and with each other.
    fn take_rows<P: Push<O::Out>>(&mut self, out: &mut Output<'_, P>) {
        let Some((at, key, events)) = self.held.take_first() else { return };
        let (lower, upper) = (self.lower(), self.upper());
        let (left_closes, right_closes) = (self.left_closes(at), self.right_closes(at));
        self.kept += events.len();
        let rows =
            self.rows.entry(key.clone()).or_insert_with(|| Rows { left: VecDeque::new(), right: VecDeque::new() });
        let (known_left, known_right) = (rows.left.len(), rows.right.len());
        for event in events {
            match event {
                Sides::Left(row) => rows.left.push_back(LeftRow { at, row, has_partner: false }),
                Sides::Right(row) => rows.right.push_back((at, row)),
            }
        }
        let apart = |left: Timestamp, right: Timestamp| i128::from(right.as_micros()) - i128::from(left.as_micros());
        let (lower, upper) = (i128::from(lower), i128::from(upper));
        let fits = |left: Timestamp, right: Timestamp| (lower..=upper).contains(&apart(left, right));
        let earliest_left = rows.left.partition_point(|left| upper < apart(left.at, at));
        for left in rows.left.range_mut(earliest_left.min(known_left)..known_left).filter(|left| fits(left.at, at)) {
            for (_, right) in rows.right.range(known_right..) {
                left.has_partner = true;
                out.emit(at, O::pair(&left.row, right));
            }
        }
        let earliest_right = rows.right.partition_point(|(right_at, _)| apart(at, *right_at) < lower);
        for left in rows.left.range_mut(known_left..) {
            for (_, right) in rows.right.range(earliest_right..).filter(|(right_at, _)| fits(at, *right_at)) {
                left.has_partner = true;
                out.emit(at, O::pair(&left.row, right));
            }
        }
        if rows.left.len() > known_left {
            self.closes.insert((left_closes, key.clone()));
        }
        if rows.right.len() > known_right {
            self.closes.insert((right_closes, key));
        }
    }

    /// Lets go of rows that have seen all of their partners.
    fn close_rows<P: Push<O::Out>>(&mut self, out: &mut Output<'_, P>) {
        let Some((at, key)) = self.closes.pop_first() else { return };
        let Some(mut rows) = self.rows.remove(&key) else { return };
        while rows.left.front().is_some_and(|left| self.left_closes(left.at) <= at) {
            self.kept -= 1;
            if let Some(left) = rows.left.pop_front()
                && !left.has_partner
                && let Some(alone) = O::alone(left.row)
            {
                out.emit(at, alone);
            }
        }
        while rows.right.front().is_some_and(|(right_at, _)| self.right_closes(*right_at) <= at) {
            self.kept -= 1;
            rows.right.pop_front();
        }
        if !rows.left.is_empty() || !rows.right.is_empty() {
            self.rows.insert(key, rows);
        }
    }
}

impl<A, B, L, R, O> Operator<Sides<A, B>> for Join<A, B, L, R, O>
where
    A: Data,
    B: Data,
    L: Select<A, Selected: Key>,
    R: Select<B, Selected = L::Selected>,
    O: JoinKind<A, B>,
{
    type Out = O::Out;

    fn on_event<P: Push<O::Out>>(&mut self, at: Timestamp, event: Sides<A, B>, out: &mut Output<'_, P>) {
        if at < self.watermark {
            self.late += 1;
            event.send_late(at, self.watermark, (&self.late_left, &self.late_right), out);
            return;
        }
        let key = event.key(&self.left_key, &self.right_key);
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
        check_upstream(O::NAME, upstream, plan);
        check_late(O::NAME, self.late_left.is_decided(), "with_late_left", plan);
        check_late(O::NAME, self.late_right.is_decided(), "with_late_right", plan);
        for bound in [self.within.start(), self.within.end()] {
            if !bound.is_whole() {
                let reason = format!("`within` has a bound of {bound:?}, and event time counts whole microseconds");
                plan.refuse(Refusal::new(O::NAME, reason));
            }
        }
        if self.upper() < self.lower() {
            let reason = format!(
                "`within` goes from {} to {}, so no two rows ever fit: put the smaller bound first",
                self.within.start(),
                self.within.end()
            );
            plan.refuse(Refusal::new(O::NAME, reason));
        }
        upstream
    }

    fn prepare(&mut self, behind: Needs, _plan: &mut Plan<'_>) -> Needs {
        let latest = if O::OUTER { self.upper().max(0) } else { 0 };
        Needs::of_what_is_complete(*behind.admits.start()..=behind.admits.end().minus(Span::from_micros(latest)))
    }

    fn ports(&self) -> Ports {
        [self.late_left.named("late_left"), self.late_right.named("late_right"), None]
    }

    fn name(&self) -> &'static str {
        O::NAME
    }

    fn describe(&self) -> Vec<String> {
        vec![format!("{}(within = {}..={})", O::NAME, self.within.start(), self.within.end())]
    }

    fn count(&self, counters: &mut OperatorCounters) {
        counters.late = self.late;
        counters.rows = u64::try_from(self.held.len() + self.kept).unwrap_or(u64::MAX);
    }
}

impl<A, B, L: Select<A>, R, O> fmt::Debug for Join<A, B, L, R, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Join").field("within", &self.within).finish_non_exhaustive()
    }
}
