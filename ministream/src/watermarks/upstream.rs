//! The watermark that comes with the stream.

use crate::time::Timestamp;
use crate::watermark::{Observed, WatermarkStrategy};

/// Takes the watermark that comes from upstream, and makes none of the events: from
/// [`Pipeline::advance_to`](crate::Pipeline::advance_to), or from whoever reads the source.
///
/// ```
/// use ministream::prelude::*;
///
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Clone, Serialize, Deserialize)]
/// # struct Click { user: String }
/// fn clicks_per_user(clicks: Stream<Click>) -> (Stream<Pane<String, u64>>, Stream<Late<Click>>) {
///     clicks.watermark(FromUpstream).key_by(|c| &c.user).window(Tumbling::new(secs(10))).count().into_streams()
/// }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct FromUpstream;

impl WatermarkStrategy for FromUpstream {
    fn observe(&mut self, _at: Timestamp) -> Observed {
        Observed::Taken(None)
    }

    fn describe(&self) -> String {
        "watermark(upstream)".to_owned()
    }
}
