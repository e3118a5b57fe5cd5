//! The jobs as fast as we can write them by hand, with the whole meaning of the pipelines: forgotten ids, late events,
//! corrections, order. One idea a file.

mod ids;
mod keys;
mod sessions;
mod windows;

pub use sessions::Sessions;
pub use windows::Windows;

use crate::results::Sink;
use crate::workload::Click;

const LATENESS: i64 = 5_000;
const TTL: i64 = 600_000;

/// A job that is fed with slices.
pub trait Tuned<U> {
    fn push_batch(&mut self, clicks: &[Click<U>], out: &mut impl Sink<U>);
    fn finish(&mut self, out: &mut impl Sink<U>);
}
