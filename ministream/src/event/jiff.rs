//! Event times of the crate `jiff`.

use jiff::{Timestamp as Instant, ZonedDateTime};

use super::EventTime;
use crate::time::Timestamp;

impl EventTime for Instant {
    fn to_timestamp(&self) -> Timestamp {
        super::from_nanos(self.as_nanosecond())
    }
}

impl EventTime for ZonedDateTime {
    fn to_timestamp(&self) -> Timestamp {
        self.timestamp().to_timestamp()
    }
}
