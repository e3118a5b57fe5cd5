//! A first pipeline: what each user spends in ten seconds of event time.
//!
//! `cargo run --example quickstart`

use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Click {
    event_id: u64,
    user: String,
    #[event(time, unit = "ms")]
    ts: i64,
    value: i64,
}

/// A pipeline is a function from streams to streams; the attribute writes its body. The return type says what the caller
/// gets: results, which can be corrected, and the events that came too late for that.
#[pipeline(
    source -> dedup(event_id)
           -> key_by(user)
           -> tumbling(10s, delay = 3s, lateness = 5s)
           -> sum(value)
)]
fn spend_per_user(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);

fn main() -> Result<(), Error> {
    let click = |event_id, ts, value| Click { event_id, user: "alice".into(), ts, value };
    // The watermark is the largest time seen minus the delay of 3 s: nothing before it is expected any more.
    let clicks = [
        click(1, 1_000, 30),
        click(2, 13_000, 5),  // the watermark is 10 s now: [0 s, 10 s) fires
        click(2, 13_000, 5),  // delivered twice, counted once
        click(3, 9_000, 12),  // 1 s late: the result is corrected
        click(4, 18_000, 1),  // the watermark is 15 s: the first window is gone
        click(5, 9_500, 100), // too late for it
    ];

    let mut spend = Pipeline::new(spend_per_user);
    for click in clicks {
        let (panes, late) = spend.push(click)?;
        for pane in panes {
            println!("{pane}");
        }
        for late in late {
            println!("{late}");
        }
    }
    let (panes, _late) = spend.finish()?;
    for pane in panes {
        println!("{pane}");
    }
    Ok(())
}
