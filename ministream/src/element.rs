//! What flows between chains: `(Event | Watermark)* End`.

use crate::time::Timestamp;

/// One thing that flows on an edge of the graph.
#[derive(Clone, Debug)]
pub(crate) enum Element<T> {
    /// An event and its event time.
    Event(Timestamp, T),
    /// No event before this instant is expected any more.
    Watermark(Timestamp),
    /// Nothing follows.
    End,
}
