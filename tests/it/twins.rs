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
    }
}

#[test]
fn a_pipeline_describes_itself() {
    insta::assert_snapshot!(Pipeline::new(|source| best_of_visits(source, 0, secs(4))).describe());
}
