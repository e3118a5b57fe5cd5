//! The attribute is a spelling of the builder: both give the same outputs.

use ministream::prelude::*;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Event)]
struct Click {
    event_id: u64,
    user: String,
    #[event(time, unit = "ms")]
    ts: i64,
    value: i64,
}

type Outputs = (Stream<Pane<String, i64>>, Stream<Late<Click>>);

/// What each user spends in ten seconds.
#[pipeline(
    source -> dedup(event_id)
           -> key_by(user)
           -> tumbling(10s, delay = 3s, lateness = 5s)
           -> sum(value)
)]
fn spend_per_user(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn spend_per_user_without_macros(source: Stream<Click>) -> Outputs {
    source
        .dedup(|c| &c.event_id)
        .ttl(secs(15))
        .watermark(Bounded::new(secs(3)))
        .key_by(|c| &c.user)
        .window(Tumbling::new(secs(10)))
        .allowed_lateness(secs(5))
        .aggregate(Sum::of(|c: &Click| c.value))
        .into_streams()
}

#[pipeline(
    source -> filter(|click| click.value > least)
           -> dedup((event_id, user), ttl = 1h)
           -> key_by(|click| click.user.to_uppercase())
           -> session(gap, delay = 3s, lateness = 5s) as visits
           -> max(value) as best
           -> filter(|pane| pane.value != 7)
)]
fn best_of_visits(
    source: Stream<Click>,
    least: i64,
    gap: std::time::Duration,
) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn best_of_visits_without_macros(source: Stream<Click>, least: i64, gap: std::time::Duration) -> Outputs {
    source
        .filter(move |click| click.value > least)
        .dedup_owned(|click| (click.event_id, click.user.clone()))
        .ttl(hours(1))
        .watermark(Bounded::new(secs(3)))
        .key_by_owned(|click| click.user.to_uppercase())
        .window(Session::new(gap))
        .allowed_lateness(secs(5))
        .named("visits")
        .max(|click| click.value)
        .named("best")
        .filter(|pane| pane.value != 7)
        .into_streams()
}

type Flows =
    (Stream<Pane<String, i64>>, Stream<Pane<String, u64>>, Stream<Late<Click>>, Stream<Click>, Stream<(u64, u64)>);

/// Two streams that meet and part, each kind of port, a tee of windows, and a join.
#[pipeline({
    let all = union(web, app) -> dedup(event_id, ttl = 1h) as firsts -> watermark(delay = 3s);
    let parts = all -> split { large: |click| click.value > 5, rest };
    let w = parts.rest -> key_by(user) -> tumbling(10s, lateness = 5s) as tens;
    let pairs = parts.large -> join(all, on = user, within = -2s..=1s, late = discard);
    (w -> sum(value), w -> count(), w.late, firsts.duplicates, pairs -> map(|(a, b)| (a.event_id, b.event_id)))
})]
fn flows(web: Stream<Click>, app: Stream<Click>) -> Flows;

fn flows_without_macros(web: Stream<Click>, app: Stream<Click>) -> Flows {
    let (unique, copies) = web.union([app]).dedup(|c| &c.event_id).ttl(hours(1)).named("firsts").with_duplicates();
    let all = unique.watermark(Bounded::new(secs(3))).into_streams();
    let (rest, large) = all.clone().split_off(|click| click.value > 5);
    let rest = rest.named("large").into_streams();
    let (tens, late) = rest
        .into_streams()
        .key_by(|c| &c.user)
        .window(Tumbling::new(secs(10)))
        .allowed_lateness(secs(5))
        .named("tens")
        .with_late();
    let pairs =
        large.key_by(|c| &c.user).join(all.key_by(|c| &c.user), before(secs(2))..=after(secs(1))).discard_late();
    (
        tens.clone().sum(|c| c.value).into_streams(),
        tens.count().into_streams(),
        late.into_streams(),
        copies.into_streams(),
        pairs.map(|(a, b)| (a.event_id, b.event_id)).into_streams(),
    )
}

type FlowsRun = (ministream::Description, Vec<String>, ministream::Counters);

fn run_flows<F>(build: F, clicks: &[Click]) -> FlowsRun
where
    F: FnOnce(Stream<Click>, Stream<Click>) -> Flows,
{
    let mut pipeline = Pipeline::try_new(build).unwrap();
    let (web, app) = pipeline.inputs();
    let description = pipeline.describe();
    let mut lines = Vec::new();
    for (number, click) in clicks.iter().enumerate() {
        let input = if number % 3 == 0 { app } else { web };
        let (sums, counts, late, copies, pairs) = pipeline.push_to(input, click.clone()).unwrap();
        lines.extend(sums.map(|pane| pane.to_string()));
        lines.extend(counts.map(|pane| pane.to_string()));
        lines.extend(late.map(|late| late.to_string()));
        lines.extend(copies.map(|copy| format!("{copy:?}")));
        lines.extend(pairs.map(|pair| format!("{pair:?}")));
    }
    let counters = pipeline.counters();
    let (sums, counts, _, _, pairs) = pipeline.finish().unwrap();
    lines.extend(sums.iter().map(ToString::to_string));
    lines.extend(counts.iter().map(ToString::to_string));
    lines.extend(pairs.iter().map(|pair| format!("{pair:?}")));
    (description, lines, counters)
}

#[derive(Debug, PartialEq)]
struct Run {
    description: ministream::Description,
    panes: Vec<Pane<String, i64>>,
    late: Vec<Late<Click>>,
    counters: ministream::Counters,
}

fn run(build: impl FnOnce(Stream<Click>) -> Outputs, clicks: &[Click]) -> Run {
    let mut pipeline = Pipeline::new(build);
    let description = pipeline.describe();
    let (mut panes, mut late) = (Vec::new(), Vec::new());
    for click in clicks {
        let (more_panes, more_late) = pipeline.push(click.clone()).unwrap();
        panes.extend(more_panes);
        late.extend(more_late);
    }
    let counters = pipeline.counters();
    let (more_panes, more_late) = pipeline.finish().unwrap();
    panes.extend(more_panes);
    late.extend(more_late);
    Run { description, panes, late, counters }
}

fn clicks() -> impl Strategy<Value = Vec<Click>> {
    let click = (0..20_u64, prop::sample::select(vec!["alice", "bob"]), -10_000..60_000_i64, -3..10_i64);
    prop::collection::vec(click, 0..40).prop_map(|clicks| {
        let click =
            |(event_id, user, ts, value): (u64, &str, i64, i64)| Click { event_id, user: user.to_owned(), ts, value };
        clicks.into_iter().map(click).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn the_attribute_is_a_spelling_of_the_builder(clicks in clicks()) {
        prop_assert_eq!(run(spend_per_user, &clicks), run(spend_per_user_without_macros, &clicks));
        prop_assert_eq!(
            run(|source| best_of_visits(source, 0, secs(4)), &clicks),
            run(|source| best_of_visits_without_macros(source, 0, secs(4)), &clicks)
        );
        prop_assert_eq!(run_flows(flows, &clicks), run_flows(flows_without_macros, &clicks));
    }
}

#[test]
fn a_pipeline_describes_itself() {
    insta::assert_snapshot!(Pipeline::new(|source| best_of_visits(source, 0, secs(4))).describe());
}
