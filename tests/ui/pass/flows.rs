//! Pipelines of several flows: three sources, two outputs, more than a dozen stages, and each kind of port.

use ministream::operator::{KeyedOperator, Operator, Output, Push, Turn};
use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Event)]
struct Click {
    id: u64,
    user: String,
    country: String,
    #[event(time, unit = "s")]
    at: i64,
    value: i64,
    vip: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Event)]
struct User {
    user: String,
    #[event(time, unit = "s")]
    at: i64,
    plan: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Stats<W = i64> {
    total: i64,
    n: u64,
    worst: W,
}

mod ops {
    use super::*;

    /// Lets values from `least` on pass.
    pub struct AtLeast {
        pub least: i64,
    }

    impl AtLeast {
        pub fn new(least: i64) -> Self {
            AtLeast { least }
        }
    }

    impl Operator<Click> for AtLeast {
        type Out = Click;

        fn on_event<P: Push<Click>>(&mut self, at: Timestamp, click: Click, out: &mut Output<'_, P>) {
            if click.value >= self.least {
                out.emit(at, click);
            }
        }

        fn name(&self) -> &'static str {
            "at_least"
        }
    }

    /// The sum so far, after each event.
    pub struct RunningSum<const SCALE: i64>;

    impl<const SCALE: i64> KeyedOperator<String, Click> for RunningSum<SCALE> {
        type State = i64;
        type Out = (String, i64);

        fn on_event(&mut self, click: Click, sum: &mut Option<i64>, turn: &mut Turn<'_, String, Self::Out>) {
            let so_far = sum.unwrap_or_default() + click.value * SCALE;
            *sum = Some(so_far);
            turn.emit((turn.key().clone(), so_far));
        }

        fn name(&self) -> &'static str {
            "running_sum"
        }
    }
}

/// Three sources, two outputs, fourteen stages.
#[pipeline({
    let web_clicks = web -> filter(|click| click.value > 0) -> watermark(delay = 2s);
    let app_clicks = app -> inspect(|_| ()) -> watermark(delay = 2s);
    let clicks = union(web_clicks, app_clicks) -> dedup(id, ttl = 1m) -> ops::AtLeast::new(least) as enough;
    let known = users -> watermark(delay = 0s) -> filter(|user| !user.plan.is_empty());
    let with_plan = clicks -> enrich(known, on = user, missing = discard, late = discard);
    let per_plan = with_plan
        -> map(|(click, user)| Click { country: user.plan, ..click })
        -> key_by(country)
        -> tumbling(10s, late = discard)
        -> aggregate(total = sum(value), n = count(), worst = max(value)) as totals
        -> filter(|pane| pane.value.n > 0);
    (per_plan, clicks -> key_by(user) -> session(5s, late = discard) -> count())
})]
fn three_sources(
    web: Stream<Click>,
    app: Stream<Click>,
    users: Stream<User>,
    least: i64,
) -> (Stream<Pane<String, Stats>>, Stream<Pane<String, u64>>);

/// Windows that are read twice, their late events, copies, and what is rejected.
#[pipeline({
    let ok = clicks -> filter(|click| click.value > 0) -> dedup(id, ttl = 20s);
    let w = ok -> key_by(user, country) -> tumbling(10s, delay = 3s, lateness = 5s) as totals;
    (w -> sum(value), w.late, w -> count(), ok.duplicates, totals.rejected)
})]
fn ports(
    clicks: Stream<Click>,
) -> (
    Stream<Pane<(String, String), i64>>,
    Stream<Late<Click>>,
    Stream<Pane<(String, String), u64>>,
    Stream<Click>,
    Stream<Click>,
);

#[pipeline({
    let parts = clicks -> split { vip: vip, cheap: |click| click.value < limit, rest };
    (parts.vip, union(parts.cheap, parts.rest) -> map(value), parts.vip -> map(id))
})]
fn parts(clicks: Stream<Click>, limit: i64) -> (Stream<Click>, Stream<i64>, Stream<u64>);

#[pipeline({ let parts = clicks -> split { vip: vip, rest = discard }; parts.vip })]
fn vips(clicks: Stream<Click>) -> Stream<Click>;

const GAP: std::time::Duration = std::time::Duration::from_secs(5);

#[pipeline({
    let l = left -> watermark(delay = 1s);
    let r = right -> watermark(delay = 1s) as timed;
    let j = l -> join(r, on = user, within = -GAP..=10s) as pairs;
    let outer = l -> left_join(r, on = |click| click.user.clone(), right_on = country, within = 0s..=0s, late = discard);
    (j, pairs.late_left, j.late_right, outer -> map(|(click, other)| (click.id, other.is_some())))
})]
fn joins(
    left: Stream<Click>,
    right: Stream<Click>,
) -> (Stream<(Click, Click)>, Stream<Late<Click>>, Stream<Late<Click>>, Stream<(u64, bool)>);

/// In one line: the late events go out behind the results, those of both sides.
#[pipeline(clicks -> join(views, on = user, within = -5s..=5s, delay = 1s) -> map(|(click, _)| click.id))]
fn line(clicks: Stream<Click>, views: Stream<Click>) -> (Stream<u64>, Stream<Late<Click>>, Stream<Late<Click>>);

/// A stream with itself: what a user clicks within five seconds after a click.
#[pipeline(clicks -> join(clicks, on = user, within = 1s..=5s, delay = 1s, late = discard) -> map(|(a, b)| (a.id, b.id)))]
fn with_itself(clicks: Stream<Click>) -> Stream<(u64, u64)>;

#[pipeline({
    let timed = users -> watermark(delay = 0s);
    let e = clicks -> watermark(delay = 0s) -> enrich(timed, on = user, missing = port);
    let kept = clicks -> watermark(delay = 0s) -> enrich(timed, on = user, missing = keep, late = discard);
    (e -> map(|(click, user)| (click.id, user.plan)), e.missing, e.late, e.late_versions,
     kept -> map(|(click, user)| (click.id, user.map(|user| user.plan))))
})]
fn enriched(
    clicks: Stream<Click>,
    users: Stream<User>,
) -> (Stream<(u64, String)>, Stream<Click>, Stream<Late<Click>>, Stream<Late<User>>, Stream<(u64, Option<String>)>);

#[pipeline(clicks -> watermark(delay = 1s) -> key_by(user) -> ops::RunningSum::<2> as sums -> filter(|(_, sum)| *sum > 2))]
fn running(clicks: Stream<Click>) -> (Stream<(String, i64)>, Stream<Late<Click>>);

#[pipeline(clicks -> watermark(delay = 1s) -> key_by(user) -> process(ops::RunningSum::<1>, late = discard))]
fn running_without_late(clicks: Stream<Click>) -> Stream<(String, i64)>;

#[pipeline(clicks -> key_by(user) -> process(ops::RunningSum::<1>, delay = 1s, late = discard))]
fn running_with_delay(clicks: Stream<Click>) -> Stream<(String, i64)>;

/// An operator that is handed in.
#[pipeline(clicks -> operator(op) as handed -> map(id))]
fn handed_in<O: Operator<Click, Out = Click> + 'static>(clicks: Stream<Click>, op: O) -> Stream<u64>;

/// Early results, and windows without an end.
#[pipeline({
    let ok = clicks -> watermark(delay = 1s);
    (ok -> key_by(user) -> sliding(10s, every = 5s, emit = every(1s), late = discard) -> sum(value),
     ok -> key_by(user) -> global(emit = on_update) -> aggregate(sum(value), count()))
})]
fn early(clicks: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Pane<String, (i64, u64)>>);

/// Each of the aggregates that are more than a sum.
#[pipeline({
    let w = clicks -> key_by(user) -> tumbling(10s, delay = 1s, late = discard);
    (w -> fold(0, |sum, click| sum + click.value, merge = |a, b| a + b),
     w -> top(2, by = value),
     w -> distinct(country),
     w -> approx_distinct(country),
     w -> quantile(value, 0.5),
     w -> aggregate(Stats { total: sum(value), n: count(), worst: top(1, by = |click| click.value) }) -> map(|pane| pane.value.worst.len()))
})]
fn aggregates(
    clicks: Stream<Click>,
) -> (
    Stream<Pane<String, i64>>,
    Stream<Pane<String, Vec<Click>>>,
    Stream<Pane<String, u64>>,
    Stream<Pane<String, u64>>,
    Stream<Pane<String, f64>>,
    Stream<usize>,
);

fn click(id: u64, at: i64, value: i64) -> Click {
    Click { id, user: "a".to_owned(), country: "x".to_owned(), at, value, vip: id % 2 == 0 }
}

fn user(at: i64, plan: &str) -> User {
    User { user: "a".to_owned(), at, plan: plan.to_owned() }
}

fn main() -> Result<(), Error> {
    let mut pipeline = Pipeline::try_new(|web, app, users| three_sources(web, app, users, 2))?;
    let (web, app, users) = pipeline.inputs();
    let _ = pipeline.push_to(users, user(0, "free"))?;
    let _ = pipeline.push_to(web, click(1, 1, 5))?;
    let _ = pipeline.push_to(app, click(2, 2, 7))?;
    let _ = pipeline.push_to(app, click(1, 1, 5))?;
    let _ = pipeline.push_to(app, click(3, 3, 1))?;
    let _ = pipeline.push_to(users, user(5, "paid"))?;
    let _ = pipeline.push_to(web, click(4, 6, 100))?;
    let (stats, visits) = pipeline.finish()?;
    let stats: Vec<_> = stats.into_iter().map(|pane| (pane.key, pane.value)).collect();
    assert_eq!(
        stats,
        [
            ("free".to_owned(), Stats { total: 12, n: 2, worst: 7 }),
            ("paid".to_owned(), Stats { total: 100, n: 1, worst: 100 }),
        ]
    );
    assert_eq!(visits.iter().map(|pane| pane.value).collect::<Vec<_>>(), [3]);

    let mut pipeline = Pipeline::try_new(ports)?;
    let _ = pipeline.push_batch([click(1, 1, 5), click(2, 2, 7), click(1, 1, 5), click(3, 30, 1), click(4, 3, 1)])?;
    let counters = pipeline.counters();
    assert_eq!((counters.late(), counters.duplicates()), (1, 1));
    let (sums, late, counts, copies, rejected) = pipeline.finish()?;
    assert_eq!(sums.iter().map(|pane| pane.value).collect::<Vec<_>>(), [1]);
    assert_eq!(counts.iter().map(|pane| pane.value).collect::<Vec<_>>(), [1]);
    assert_eq!((late.len(), copies.len(), rejected.len()), (0, 0, 0));

    let mut pipeline = Pipeline::try_new(|clicks| parts(clicks, 5))?;
    let (vip, others, ids) = pipeline.push_batch([click(1, 1, 5), click(2, 2, 7), click(3, 3, 1)])?;
    assert_eq!(vip.map(|click| click.id).collect::<Vec<_>>(), [2]);
    assert_eq!(others.collect::<Vec<_>>(), [5, 1]);
    assert_eq!(ids.collect::<Vec<_>>(), [2]);
    assert_eq!(Pipeline::try_new(vips)?.push(click(2, 1, 1))?.count(), 1);

    let mut pipeline = Pipeline::try_new(joins)?;
    let (left, right) = pipeline.inputs();
    let _ = pipeline.push_to(left, click(1, 10, 5))?;
    let _ = pipeline.push_to(right, click(2, 5, 5))?;
    let _ = pipeline.push_to(right, click(3, 21, 5))?;
    let (pairs, late_left, late_right, outer) = pipeline.finish()?;
    assert_eq!(pairs.iter().map(|(l, r)| (l.id, r.id)).collect::<Vec<_>>(), [(1, 2)]);
    assert_eq!((late_left.len(), late_right.len(), outer), (0, 0, vec![(1, false)]));

    let mut pipeline = Pipeline::try_new(with_itself)?;
    let pairs = pipeline.push_batch([click(1, 1, 5), click(2, 3, 7), click(3, 8, 1)])?;
    assert_eq!(pairs.collect::<Vec<_>>(), [(1, 2)]);
    assert_eq!(pipeline.finish()?, [(2, 3)]);

    let pipeline = Pipeline::try_new(early)?;
    assert_eq!(pipeline.finish()?.0.len(), 0);
    let mut pipeline = Pipeline::try_new(running)?;
    let (sums, _) = pipeline.push_batch([click(2, 2, 1), click(1, 1, 5), click(3, 30, 1)])?;
    assert_eq!(sums.map(|(_, sum)| sum).collect::<Vec<_>>(), [10, 12]);
    assert_eq!(Pipeline::try_new(running_without_late)?.finish()?, []);
    let mut pipeline = Pipeline::try_new(running_with_delay)?;
    let sums = pipeline.push_batch([click(2, 2, 1), click(1, 1, 5), click(3, 30, 1)])?;
    assert_eq!(sums.map(|(_, sum)| sum).collect::<Vec<_>>(), [5, 6]);
    let mut pipeline = Pipeline::try_new(|clicks| handed_in(clicks, ops::AtLeast::new(5)))?;
    assert_eq!(pipeline.push_batch([click(1, 1, 5), click(2, 2, 4)])?.collect::<Vec<_>>(), [1]);

    let mut pipeline = Pipeline::try_new(aggregates)?;
    let _ = pipeline.push_batch([click(2, 2, 1), click(1, 1, 5), click(3, 3, 3)])?;
    let (folds, tops, distinct, about, median, worst) = pipeline.finish()?;
    assert_eq!(folds[0].value, 9);
    assert_eq!(tops[0].value.iter().map(|click| click.id).collect::<Vec<_>>(), [1, 3]);
    assert_eq!((distinct[0].value, about[0].value, worst[0]), (1, 1, 1));
    assert!((median[0].value - 3.0).abs() < 0.031);

    // The rest is built and understood.
    assert!(Pipeline::try_new(enriched).is_ok() && Pipeline::new(line).describe().contains("join"));
    Ok(())
}
