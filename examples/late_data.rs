//! Late events: corrected within the lateness, handed out after it, and never lost.
//!
//! `cargo run --example late_data`

use std::time::Duration;

use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Reading {
    sensor: String,
    #[event(time, unit = "s")]
    at: i64,
    litres: u32,
}

/// The lateness is a setting: how long a result may still change. It costs memory, for the windows are kept that long.
#[pipeline(
    source -> key_by(sensor)
           -> tumbling(10s, delay = 2s, lateness = lateness)
           -> sum(litres)
)]
fn flow(source: Stream<Reading>, lateness: Duration) -> (Stream<Pane<String, u32>>, Stream<Late<Reading>>);

fn main() -> Result<(), Error> {
    // The sensor was out of reach for a while: its readings of the seconds 6 and 3 come after those of 12 and 25.
    let readings = [(1, 10), (12, 1), (6, 20), (25, 2), (3, 40)];

    for lateness in [secs(0), secs(10), secs(60)] {
        println!("lateness {} s", lateness.as_secs());
        let mut pipeline = Pipeline::try_new(|readings| flow(readings, lateness))?;
        for (at, litres) in readings {
            let (panes, late) = pipeline.push(Reading { sensor: "north".to_owned(), at, litres })?;
            for pane in panes {
                println!("  {pane}");
            }
            // A real program would write them to a file or a queue.
            for late in late {
                println!("  late: {} litres of {}, {:?} behind", late.event.litres, late.timestamp, late.behind());
            }
        }
        let (panes, _late) = pipeline.finish()?;
        for pane in panes {
            println!("  {pane}");
        }
    }
    Ok(())
}
