//! Each form of argument.

#[path = "../click.rs"]
mod click;
use std::time::Duration;

use click::*;

const SIZE: Duration = secs(10);

#[pipeline(source -> filter(active) -> map(device) -> map(pair.1))]
fn fields(source: Stream<Click>) -> Stream<String>;

#[pipeline(source -> flat_map(tags))]
fn tags(source: Stream<Click>) -> Stream<String>;

#[pipeline(source -> dedup((event_id, user)) -> key_by(device.id) -> tumbling(10s, delay = 3s) -> sum(device.pair.0))]
fn nested(source: Stream<Click>) -> (Stream<Pane<u32, u8>>, Stream<Late<Click>>);

#[pipeline(source -> dedup(event_id, user, ttl = 1h) -> key_by(user, country) -> session(30m, delay = 3s) -> count())]
fn several(source: Stream<Click>) -> (Stream<Pane<(String, String), u64>>, Stream<Late<Click>>);

#[pipeline(source -> key_by((user, device.id)) -> tumbling(10s, delay = 3s) -> count())]
fn tuple(source: Stream<Click>) -> (Stream<Pane<(String, u32), u64>>, Stream<Late<Click>>);

#[pipeline(
    source -> dedup(|click| click.event_id)
           -> key_by(|click| click.user.to_lowercase())
           -> tumbling(10s, delay = 3s)
           -> sum(|click| click.value * 2)
)]
fn closures(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

#[pipeline(source -> key_by(|click| &click.user) -> tumbling(10s, delay = 3s) -> sum(|click| -> i64 { click.value }))]
fn by_reference(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

#[pipeline(source -> key_by(by_country) -> tumbling(10s, delay = 3s) -> sum(weight))]
fn functions(
    source: Stream<Click>,
    by_country: fn(&Click) -> String,
    weight: fn(&Click) -> i64,
) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

#[pipeline(source -> key_by(user) -> tumbling(SIZE, offset = secs(1), delay = millis(3), lateness = SIZE / 2) -> count())]
fn expressions(source: Stream<Click>) -> (Stream<Pane<String, u64>>, Stream<Late<Click>>);

#[pipeline(source -> dedup(event_id) -> key_by(user) -> tumbling(1_500ms, offset = 250us, delay = 2m, lateness = 1h) -> count())]
fn units(source: Stream<Click>) -> (Stream<Pane<String, u64>>, Stream<Late<Click>>);

#[pipeline(source -> key_by(user) -> sliding(2w, every = 1d, delay = 0s, late = discard) -> count())]
fn discarded(source: Stream<Click>) -> Stream<Pane<String, u64>>;

#[pipeline(source -> dedup(event_id, ttl = std::time::Duration::MAX) -> key_by(user) -> session(gap, delay = 3s) -> count())]
fn for_ever(source: Stream<Click>, gap: Duration) -> (Stream<Pane<String, u64>>, Stream<Late<Click>>);

/// Settings are used in several closures, and need not be `Copy`.
#[pipeline(
    source -> filter(|click| click.value > least && click.user != robot)
           -> filter(|click| click.country != robot)
           -> dedup(event_id) as unique
           -> key_by(user) as by_user
           -> tumbling(size, delay = delay) as totals
           -> sum(|click| click.value * least) as spent
           -> filter(|pane| pane.value < 1_000 && pane.key != robot)
)]
pub fn settings(
    source: Stream<Click>,
    least: i64,
    robot: String,
    size: Duration,
    delay: Duration,
) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

#[pipeline(source -> filter(|event| wanted(event)) -> watermark(delay = 3s) -> key_by(key) -> tumbling(10s) -> count())]
fn generic<T, K, F>(
    source: Stream<T>,
    wanted: F,
    key: fn(&T) -> K,
) -> (Stream<Pane<K, u64>>, Stream<Late<T>>)
where
    T: Data,
    K: ministream::Key,
    F: Fn(&T) -> bool + Clone + Send + 'static;

#[pipeline(panes -> key_by(key) -> tumbling(1m) -> sum(value))]
fn hourly(panes: Stream<Pane<String, i64>>) -> (Stream<Pane<String, i64>>, Stream<Late<Pane<String, i64>>>);

#[pipeline(
    source -> key_by(user) -> tumbling(10s, delay = 3s, late = discard) -> sum(value)
           -> key_by(key) -> tumbling(1m) -> max(value)
)]
fn nested_windows(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Pane<String, i64>>>);

/// Pipelines compose by calling each other.
fn composed(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>, Stream<Late<Pane<String, i64>>>) {
    let (panes, late) = closures(source);
    let (hours, late_panes) = hourly(panes);
    (hours, late, late_panes)
}

fn main() {
    for refused in [
        Pipeline::try_new(fields).is_err(),
        Pipeline::try_new(tags).is_err(),
        Pipeline::try_new(nested).is_err(),
        Pipeline::try_new(several).is_err(),
        Pipeline::try_new(tuple).is_err(),
        Pipeline::try_new(closures).is_err(),
        Pipeline::try_new(by_reference).is_err(),
        Pipeline::try_new(|source| functions(source, |click| click.country.clone(), |click| click.value)).is_err(),
        Pipeline::try_new(expressions).is_err(),
        Pipeline::try_new(units).is_err(),
        Pipeline::try_new(discarded).is_err(),
        Pipeline::try_new(|source| for_ever(source, minutes(30))).is_err(),
        Pipeline::try_new(|source| settings(source, 3, "robot".to_owned(), SIZE, secs(3))).is_err(),
        Pipeline::try_new(|source| generic(source, |click: &Click| click.active, |click| click.user.clone())).is_err(),
        Pipeline::try_new(nested_windows).is_err(),
        Pipeline::try_new(composed).is_err(),
    ] {
        assert!(!refused);
    }
}
