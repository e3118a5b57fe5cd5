//! The ways to make a watermark, one file each.

mod bounded;
mod upstream;

pub use self::bounded::Bounded;
pub use self::upstream::FromUpstream;
