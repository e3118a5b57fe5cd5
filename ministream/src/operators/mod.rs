//! The operators, one file each: what it does, and the method of [`Stream`](crate::Stream) that adds it.

mod dedup;
mod enrich;
mod filter;
mod flat_map;
mod inspect;
mod join;
mod key_by;
mod map;
mod process;
mod sides;
mod split;
mod union;
mod watermark;
mod window;

pub use self::dedup::Dedup;
pub use self::enrich::{Enrich, Enriched, KeepMissing, MissingChoice, TakeMissing};
pub use self::filter::Filter;
pub use self::flat_map::FlatMap;
pub use self::inspect::Inspect;
pub use self::join::{Inner, Join, JoinKind, Joined, LeftOuter};
pub use self::map::Map;
pub use self::process::{Process, Processed};
pub use self::sides::Sides;
pub use self::split::SplitOff;
pub use self::watermark::MakeWatermark;
pub use self::window::{Aggregated, WindowOperator};
