//! Each stage, with its plain arguments.

#[path = "../click.rs"]
mod click;
use click::*;

#[pipeline(source -> filter(|click| click.value > 0) -> inspect(|click| assert!(click.value > 0)))]
fn filtered(source: Stream<Click>) -> Stream<Click>;

#[pipeline(source -> map(|click| click.value) -> filter(|value| *value != 3))]
fn mapped(source: Stream<Click>) -> Stream<i64>;

#[pipeline(source -> flat_map(|click| vec![click.value, click.value + 1]))]
fn flattened(source: Stream<Click>) -> Stream<i64>;

#[pipeline(source -> dedup(event_id, ttl = 1h) -> watermark(delay = 3s, idle = 1m, max_ahead = 1d))]
fn unique(source: Stream<Click>) -> Stream<Click>;

#[pipeline(source -> watermark(upstream) -> key_by(user) -> tumbling(10s) -> count())]
fn by_hand(source: Stream<Click>) -> (Stream<Pane<String, u64>>, Stream<Late<Click>>);

#[pipeline(source -> key_by(user) -> tumbling(10s, delay = 3s) -> sum(value))]
fn tumbling(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

#[pipeline(source -> key_by(user) -> sliding(60s, every = 5s, delay = 3s) -> min(value))]
fn sliding(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

#[pipeline(source -> key_by(user) -> session(30m, delay = 3s) -> max(temperature))]
fn session(source: Stream<Click>) -> (Stream<Pane<String, f64>>, Stream<Late<Click>>);

#[pipeline(source -> key_by(user) -> tumbling(10s, delay = 3s) -> mean(temperature))]
fn mean(source: Stream<Click>) -> (Stream<Pane<String, f64>>, Stream<Late<Click>>);

#[pipeline(source -> key_by(user) -> tumbling(10s, delay = 3s) -> first(country))]
fn first(source: Stream<Click>) -> (Stream<Pane<String, String>>, Stream<Late<Click>>);

#[pipeline(source -> key_by(user) -> tumbling(10s, delay = 3s) -> last(temperature))]
fn last(source: Stream<Click>) -> (Stream<Pane<String, f64>>, Stream<Late<Click>>);

#[pipeline(
    source -> map(|click| (click.user, click.value))
           -> watermark(delay = 3s)
           -> key_by(|pair| &pair.0)
           -> tumbling(10s)
           -> collect()
)]
fn collected(source: Stream<Click>) -> (Stream<Pane<String, Vec<(String, i64)>>>, Stream<Late<(String, i64)>>);

#[pipeline(
    source -> key_by(user)
           -> tumbling(10s, delay = 3s)
           -> reduce(|a, b| if (a.ts, a.event_id) < (b.ts, b.event_id) { b } else { a })
)]
fn reduced(source: Stream<Click>) -> (Stream<Pane<String, Click>>, Stream<Late<Click>>);

#[pipeline(
    source -> key_by(user) -> tumbling(10s, delay = 3s) -> aggregate((Count, Sum::of(|click: &Click| click.value)))
)]
fn aggregated(source: Stream<Click>) -> (Stream<Pane<String, (u64, i64)>>, Stream<Late<Click>>);

fn main() {
    let _ = Pipeline::new(filtered);
    let _ = Pipeline::new(mapped);
    let _ = Pipeline::new(flattened);
    let _ = Pipeline::new(unique);
    let _ = Pipeline::new(by_hand);
    let _ = Pipeline::new(tumbling);
    let _ = Pipeline::new(sliding);
    let _ = Pipeline::new(session);
    let _ = Pipeline::new(mean);
    let _ = Pipeline::new(first);
    let _ = Pipeline::new(last);
    let _ = Pipeline::new(collected);
    let _ = Pipeline::new(reduced);
    let _ = Pipeline::new(aggregated);
}
