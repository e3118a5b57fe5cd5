//! Each form of event time.

use std::time::SystemTime;

use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Event)]
struct Seconds(#[event(time, unit = "s")] u32);

#[derive(Event)]
struct Nanoseconds {
    #[event(time, unit = "ns")]
    at: i128,
}

#[derive(Event)]
struct Own {
    #[event(time)]
    at: Timestamp,
}

#[derive(Event)]
struct System {
    #[event(time)]
    at: SystemTime,
}

#[derive(Event)]
struct Jiff {
    #[event(time)]
    at: jiff::Timestamp,
}

#[derive(Event)]
struct Chrono {
    #[event(time)]
    at: chrono::DateTime<chrono::Utc>,
}

#[derive(Clone, Serialize, Deserialize, Event)]
struct Envelope<T>
where
    T: Clone,
{
    #[event(time, unit = "us")]
    at: i64,
    content: T,
}

fn main() {
    assert_eq!(Seconds(3).timestamp(), Timestamp::from_secs(3));
    assert_eq!(Nanoseconds { at: -1 }.timestamp(), Timestamp::from_micros(-1));
    assert_eq!(Own { at: Timestamp::MAX }.timestamp(), Timestamp::MAX);
    assert_eq!(System { at: SystemTime::UNIX_EPOCH }.timestamp(), Timestamp::EPOCH);
    assert_eq!(Jiff { at: jiff::Timestamp::UNIX_EPOCH }.timestamp(), Timestamp::EPOCH);
    assert_eq!(Chrono { at: chrono::DateTime::UNIX_EPOCH }.timestamp(), Timestamp::EPOCH);
    assert_eq!(Envelope { at: 7, content: "x" }.timestamp(), Timestamp::from_micros(7));
}
