//! The pipeline of `quickstart` without macros: the attribute is only a spelling of these methods.
//!
//! `cargo run --example builder`

use std::time::Duration;

use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Click {
    event_id: u64,
    user: String,
    ts: i64,
    value: i64,
}

/// What `#[derive(Event)]` writes.
impl Event for Click {
    fn timestamp(&self) -> Timestamp {
        Timestamp::from_millis(self.ts)
    }
}

/// Settings are ordinary parameters.
fn spend_per_user(
    source: Stream<Click>,
    size: Duration,
    lateness: Duration,
) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>) {
    source
        .dedup(|click| &click.event_id)
        .watermark(Bounded::new(secs(3)))
        .key_by(|click| &click.user)
        .window(Tumbling::new(size))
        .allowed_lateness(lateness)
        .sum(|click| click.value)
        .into_streams()
}

fn main() -> Result<(), Error> {
    // A closure hands the settings in. `try_new` checks them: a window of size zero is refused here.
    let mut spend = Pipeline::try_new(|clicks| spend_per_user(clicks, secs(10), secs(5)))?;
    println!("{}", spend.describe());

    let clicks = [(1, 1_000, 30), (2, 13_000, 5), (2, 13_000, 5), (3, 9_000, 12), (4, 18_000, 1), (5, 9_500, 100)];
    let clicks = clicks.map(|(event_id, ts, value)| Click { event_id, user: "alice".into(), ts, value });
    // A batch gives what its events would give one by one; here the results come first, and then what was late.
    let (panes, late) = spend.push_batch(clicks)?;
    panes.for_each(|pane| println!("{pane}"));
    late.for_each(|late| println!("{late}"));

    let (panes, _late) = spend.finish()?;
    panes.iter().for_each(|pane| println!("{pane}"));
    Ok(())
}
