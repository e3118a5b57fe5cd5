//! What operators with two inputs share: both as one stream, under the smaller of their watermarks.

use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::event::Data;
use crate::operator::{Output, Port, ToMerge};
use crate::pane::Late;
use crate::plan::{Plan, Upstream};
use crate::select::Select;
use crate::stream::{Chain, KeyedStream, NothingBeside, Stream};
use crate::time::Timestamp;

/// An event of one of two inputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Sides<A, B> {
    /// Of the stream in front.
    Left(A),
    /// Of the other.
    Right(B),
}

impl<A: Data, B: Data> Sides<A, B> {
    pub(super) fn key<L, R>(&self, left: &L, right: &R) -> L::Selected
    where
        L: Select<A>,
        R: Select<B, Selected = L::Selected>,
    {
        match self {
            Sides::Left(event) => left.select(event).into_owned(),
            Sides::Right(event) => right.select(event).into_owned(),
        }
    }

    /// Sends an event behind the watermark to the port of its side.
    pub(super) fn send_late<P>(
        self,
        at: Timestamp,
        watermark: Timestamp,
        (left, right): (&Port<Late<A>>, &Port<Late<B>>),
        out: &mut Output<'_, P>,
    ) {
        match self {
            Sides::Left(event) => out.send(left, at, Late::new(event, at, watermark)),
            Sides::Right(event) => out.send(right, at, Late::new(event, at, watermark)),
        }
    }
}

/// Both streams as one, and what their keys are.
pub(super) fn together<A, B, C, D, L, R>(
    stage: &'static str,
    left: KeyedStream<A, C, L>,
    right: KeyedStream<B, D, R>,
) -> (Stream<Sides<A, B>>, L, R)
where
    A: Data,
    B: Data,
    C: Chain<A, Side: NothingBeside>,
    D: Chain<B, Side: NothingBeside>,
{
    let graph = left.stream.graph().clone();
    left.stream.refuse_foreign(stage, right.stream.graph());
    let both = Stream::on(&graph);
    let edge = both.edge();
    let merge = graph.with(|graph| graph.add_merge(stage, 2));
    left.stream.close(ToMerge { merge, input: 0, edge, into: Sides::<A, B>::Left });
    right.stream.close(ToMerge { merge, input: 1, edge, into: Sides::<A, B>::Right });
    (both, left.select, right.select)
}

/// Reports what an operator that goes by event time cannot work with.
pub(super) fn check_upstream(stage: &'static str, upstream: Upstream, plan: &mut Plan<'_>) {
    if upstream.clock.is_none() {
        let reason = "no watermark reaches it, so nothing would ever leave it: put a stage such as \
                      `watermark(delay = 3s)` in front, for each of its streams";
        plan.refuse(Refusal::new(stage, reason));
    }
    if upstream.corrections {
        let reason = "the results in front of it can be corrected, and each correction would count beside what it \
                      corrects: leave `lateness` and `emit` out in front";
        plan.refuse(Refusal::new(stage, reason));
    }
}

/// Reports late events that nobody takes.
pub(super) fn check_late(stage: &'static str, decided: bool, method: &str, plan: &mut Plan<'_>) {
    if !decided {
        let reason = format!(
            "its late events have nowhere to go: take them with `{method}()`, or drop them on purpose with `discard_late()`"
        );
        plan.refuse(Refusal::new(stage, reason));
    }
}
