//! What the results of a contender come to.

use crate::workload::User;

/// One result of one window.
#[derive(Clone, Debug)]
pub struct Row<U> {
    pub start: i64,
    pub end: i64,
    pub user: U,
    pub sum: i64,
    pub update: bool,
}

/// Takes results in order.
pub trait Sink<U> {
    fn result(&mut self, start: i64, end: i64, user: &U, sum: i64, update: bool);
    fn late(&mut self);
}

/// Depends on each result and on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    results: u64,
    updates: u64,
    late: u64,
    hash: u64,
}

impl Digest {
    pub fn has_updates(&self) -> bool {
        self.updates > 0
    }

    pub fn has_late(&self) -> bool {
        self.late > 0
    }
}

impl<U: User> Sink<U> for Digest {
    fn result(&mut self, start: i64, end: i64, user: &U, sum: i64, update: bool) {
        self.results += 1;
        self.updates += u64::from(update);
        let row = (start as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (end as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9)
            ^ user.word().wrapping_mul(0x94d0_49bb_1331_11eb)
            ^ (sum as u64).wrapping_mul(0xd6e8_feb8_6659_fd93)
            ^ u64::from(update);
        self.hash = (self.hash.rotate_left(5) ^ row).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn late(&mut self) {
        self.late += 1;
    }
}

impl<U: User> Sink<U> for Vec<Row<U>> {
    fn result(&mut self, start: i64, end: i64, user: &U, sum: i64, update: bool) {
        self.push(Row { start, end, user: user.clone(), sum, update });
    }

    fn late(&mut self) {}
}
