//! What a pipeline counts.

use crate::time::Timestamp;

/// The counts of a pipeline since it was built, and what it holds now.
///
/// Every event that was pushed is exactly one of: a duplicate, late, rejected, filtered out by the user's own stages, or
/// counted in a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub(crate) events_in: u64,
    pub(crate) watermark: Option<Timestamp>,
    pub(crate) operators: Vec<OperatorCounters>,
}

impl Counters {
    /// Events pushed.
    pub fn events_in(&self) -> u64 {
        self.events_in
    }

    /// Events that the last operators put out, without those of side outputs.
    pub fn events_out(&self) -> u64 {
        self.operators.iter().filter(|operator| operator.is_last).map(|operator| operator.events_out).sum()
    }

    /// Events that left by a late stream, or were discarded because they were late.
    pub fn late(&self) -> u64 {
        self.sum(|operator| operator.late)
    }

    /// Events of sliding windows that came too late for some of their windows, but not for all.
    pub fn partly_late(&self) -> u64 {
        self.sum(|operator| operator.partly_late)
    }

    /// Copies that a `dedup` held back.
    pub fn duplicates(&self) -> u64 {
        self.sum(|operator| operator.duplicates)
    }

    /// Events that no window can hold, or that lay more than `max_ahead` ahead.
    pub fn rejected(&self) -> u64 {
        self.sum(|operator| operator.rejected)
    }

    /// Windows that are kept now, counted once for each key.
    pub fn open_windows(&self) -> u64 {
        self.sum(|operator| operator.open_windows)
    }

    /// Ids that are remembered now.
    pub fn ids(&self) -> u64 {
        self.sum(|operator| operator.ids)
    }

    /// The smallest watermark of the pipeline's `watermark` stages; None before the first event.
    pub fn watermark(&self) -> Option<Timestamp> {
        self.watermark
    }

    /// The counts of each operator, upstream first.
    pub fn operators(&self) -> &[OperatorCounters] {
        &self.operators
    }

    fn sum(&self, count: impl Fn(&OperatorCounters) -> u64) -> u64 {
        self.operators.iter().map(count).sum()
    }
}

/// The counts of one operator. A count that an operator does not have stays zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperatorCounters {
    /// The stage's word in the DSL, or the name given to it.
    pub name: String,
    /// Events taken.
    pub events_in: u64,
    /// Events put out, without those of side outputs.
    pub events_out: u64,
    /// Late events.
    pub late: u64,
    /// Events that were late for some of their windows.
    pub partly_late: u64,
    /// Copies held back.
    pub duplicates: u64,
    /// Events rejected.
    pub rejected: u64,
    /// Windows kept now, counted once for each key.
    pub open_windows: u64,
    /// Ids remembered now.
    pub ids: u64,
    /// Rows, events and states kept now by a join, `enrich`, or an operator over keys.
    pub rows: u64,
    pub(crate) is_last: bool,
}

impl OperatorCounters {
    pub(crate) fn new(name: &str, events_in: u64, events_out: u64) -> Self {
        OperatorCounters { name: name.to_owned(), events_in, events_out, ..Self::default() }
    }
}
