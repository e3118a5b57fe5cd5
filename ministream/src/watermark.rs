//! The contract of watermarks: how a stream says up to which event time it is complete.
//!
//! A watermark `w` says that no event with a timestamp below `w` is expected any more. It never goes back, and it belongs
//! to the stream, not to a key.

use std::collections::BTreeMap;

use crate::error::Refusal;
use crate::time::Timestamp;

/// Makes a stream's watermark from its events. See [`watermarks`](crate::watermarks) for those there are.
pub trait WatermarkStrategy: Send + 'static {
    /// Looks at the timestamp of the next event.
    fn observe(&mut self, at: Timestamp) -> Observed;

    /// The stage as the DSL writes it: `watermark(delay = 3s)`.
    fn describe(&self) -> String;

    /// Everything that is wrong with the settings.
    fn refusals(&self) -> Vec<Refusal> {
        Vec::new()
    }
}

/// What a [`WatermarkStrategy`] makes of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// The event is taken; after it the watermark is this, if that is later than it was.
    Taken(Option<Timestamp>),
    /// The event is rejected and changes nothing.
    Rejected,
}

/// The watermark of a source with partitions: the smallest of those that are active.
///
/// Each partition has a watermark of its own. A partition that is finished or idle holds nothing back; one that has not
/// delivered anything yet holds everything back. Whoever reads the source feeds this and hands the result to
/// [`Pipeline::advance_to`](crate::Pipeline::advance_to); what counts as idle is its decision, for the core reads no
/// clock.
///
/// ```
/// use ministream::prelude::*;
/// use ministream::watermark::PartitionWatermarks;
///
/// let mut partitions = PartitionWatermarks::new(["p0", "p1"]);
/// partitions.advance(&"p0", Timestamp::from_secs(20));
/// assert_eq!(partitions.watermark(), None);
/// partitions.advance(&"p1", Timestamp::from_secs(10));
/// assert_eq!(partitions.watermark(), Some(Timestamp::from_secs(10)));
/// partitions.set_idle(&"p1");
/// assert_eq!(partitions.watermark(), Some(Timestamp::from_secs(20)));
/// ```
#[derive(Clone, Debug)]
pub struct PartitionWatermarks<P> {
    partitions: BTreeMap<P, Part>,
    /// The largest watermark given so far: it never goes back, even if an idle partition wakes up behind it.
    given: Option<Timestamp>,
}

/// One of several things that have a watermark together: a partition of a source, or an input of a union.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    pub(crate) watermark: Option<Timestamp>,
    pub(crate) idle: bool,
    pub(crate) finished: bool,
}

/// How far all parts are together: the smallest watermark of the active ones; with none active, the largest of all.
pub(crate) fn furthest<'a, I>(parts: I) -> Option<Timestamp>
where
    I: Iterator<Item = &'a Part> + Clone,
{
    let active = parts.clone().filter(|part| !part.idle && !part.finished);
    match active.map(|part| part.watermark).min() {
        Some(smallest) => smallest,
        None => parts.map(|part| part.watermark).max().flatten(),
    }
}

impl<P: Ord> PartitionWatermarks<P> {
    /// The partitions of a source, none of which has delivered anything.
    pub fn new(partitions: impl IntoIterator<Item = P>) -> Self {
        let partitions = partitions.into_iter().map(|partition| (partition, Part::default())).collect();
        PartitionWatermarks { partitions, given: None }
    }

    /// Moves the watermark of one partition, which is active from then on. A partition not known before is added.
    pub fn advance(&mut self, partition: &P, to: Timestamp)
    where
        P: Clone,
    {
        let state = match self.partitions.get_mut(partition) {
            Some(state) => state,
            None => self.partitions.entry(partition.clone()).or_default(),
        };
        state.watermark = state.watermark.max(Some(to));
        state.idle = false;
        self.update();
    }

    /// The partition is quiet: it holds nothing back until it advances again.
    pub fn set_idle(&mut self, partition: &P) {
        if let Some(state) = self.partitions.get_mut(partition) {
            state.idle = true;
        }
        self.update();
    }

    /// The partition has ended: it never holds anything back again.
    pub fn finish(&mut self, partition: &P) {
        if let Some(state) = self.partitions.get_mut(partition) {
            state.finished = true;
        }
        self.update();
    }

    /// The watermark of the whole source; None as long as an active partition has none.
    pub fn watermark(&self) -> Option<Timestamp> {
        self.given
    }

    fn update(&mut self) {
        self.given = self.given.max(furthest(self.partitions.values()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ts(micros: i64) -> Option<Timestamp> {
        Some(Timestamp::from_micros(micros))
    }

    fn advanced(partitions: &mut PartitionWatermarks<u8>, partition: u8, to: i64) -> Option<Timestamp> {
        partitions.advance(&partition, Timestamp::from_micros(to));
        partitions.watermark()
    }

    #[test]
    fn the_smallest_active_partition_counts() {
        let mut partitions = PartitionWatermarks::new([0, 1, 2]);
        assert_eq!(advanced(&mut partitions, 0, 50), None);
        assert_eq!(advanced(&mut partitions, 1, 30), None);
        assert_eq!(advanced(&mut partitions, 2, 40), ts(30));
        partitions.finish(&1);
        assert_eq!(partitions.watermark(), ts(40));
        partitions.set_idle(&2);
        assert_eq!(partitions.watermark(), ts(50));
    }

    #[test]
    fn a_partition_that_wakes_up_behind_moves_nothing_back() {
        let mut partitions = PartitionWatermarks::new([0, 1]);
        partitions.set_idle(&1);
        assert_eq!(advanced(&mut partitions, 0, 50), ts(50));
        assert_eq!(advanced(&mut partitions, 1, 20), ts(50));
        assert_eq!(advanced(&mut partitions, 0, 60), ts(50));
        assert_eq!(advanced(&mut partitions, 1, 55), ts(55));
    }

    #[test]
    fn with_all_partitions_quiet_the_furthest_counts() {
        let mut partitions = PartitionWatermarks::new([0, 1]);
        advanced(&mut partitions, 0, 50);
        partitions.set_idle(&0);
        partitions.set_idle(&1);
        assert_eq!(partitions.watermark(), ts(50));
        assert_eq!(PartitionWatermarks::<u8>::new([]).watermark(), None);
    }
}
