//! Event times of the crate `chrono`.

use chrono::{DateTime, TimeZone};

use super::EventTime;
use crate::time::Timestamp;

impl<Z: TimeZone> EventTime for DateTime<Z> {
    fn to_timestamp(&self) -> Timestamp {
        Timestamp::from_micros(self.timestamp_micros())
    }
}
