//! Session windows: visits that end after half an hour of silence, also when the events come in the wrong order.
//!
//! `cargo run --example sessions`

use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct View {
    user: String,
    #[event(time)] // a `Timestamp` needs no unit
    at: Timestamp,
}

/// Each event opens `[at, at + 30 min)`; windows of one user that overlap are one.
#[pipeline(
    source -> key_by(user)
           -> session(30m, delay = 1m, lateness = 2h)
           -> count()
)]
fn visits(source: Stream<View>) -> (Stream<Pane<String, u64>>, Stream<Late<View>>);

fn main() -> Result<(), Error> {
    let time = |hour, minute| Timestamp::EPOCH + hours(hour) + minutes(minute);
    let view = |user: &str, hour, minute| View { user: user.to_owned(), at: time(hour, minute) };
    let views = [
        view("alice", 9, 0),
        view("alice", 9, 10),
        view("bob", 9, 20),
        view("alice", 9, 50), // 40 minutes later: another visit
        view("bob", 10, 30),  // fires all visits that ended by 10:29
        view("alice", 9, 30), // late: it joins the two visits, and the result names what it replaces
    ];

    let mut visits = Pipeline::new(visits);
    for view in views {
        println!("{} {}", view.at, view.user);
        let (panes, _late) = visits.push(view)?;
        for pane in panes {
            println!("    {pane}");
        }
    }
    println!("end of input");
    let (panes, _late) = visits.finish()?;
    for pane in panes {
        println!("    {pane}");
    }
    Ok(())
}
