//! `union`: several streams as one.

use crate::event::Data;
use crate::operator::ToMerge;
use crate::stream::{Chain, NothingBeside, Stream};

impl<T: Data, C: Chain<T, Side: NothingBeside>> Stream<T, C> {
    /// This stream and others of the same type as one, in the order in which their events arrive.
    ///
    /// Its watermark is the smallest of those of its active inputs: one that has [ended](crate::Pipeline::end_input), or
    /// is [idle](crate::Pipeline::set_idle), does not hold it back. Either all have a watermark, or none: then the
    /// `watermark` stage behind makes one of all their events.
    ///
    /// ```
    /// use ministream::prelude::*;
    ///
    /// fn all(europe: Stream<i64>, asia: Stream<i64>, africa: Stream<i64>) -> Stream<i64> {
    ///     europe.union([asia, africa]).filter(|n| *n > 0).into_streams()
    /// }
    /// ```
    pub fn union<const N: usize>(self, others: [Stream<T>; N]) -> Stream<T> {
        for other in &others {
            self.refuse_foreign("union", other.graph());
        }
        let together = Stream::on(self.graph());
        let edge = together.edge();
        let merge = self.graph().with(|graph| graph.add_merge("union", 1 + others.len()));
        self.close(ToMerge { merge, input: 0, edge, into: |event: T| event });
        for (input, other) in (1..).zip(others) {
            other.close(ToMerge { merge, input, edge, into: |event: T| event });
        }
        together
    }
}
