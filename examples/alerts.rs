//! An operator of your own, with state for each key: an alert when what a user spends doubles from one window to the next.
//!
//! `cargo run --example alerts`

use ministream::operator::{KeyedOperator, Turn};
use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Order {
    user: String,
    #[event(time, unit = "s")]
    at: i64,
    cents: i64,
}

/// A user spent at least twice as much in a window as in the one before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Alert {
    user: String,
    window: Window,
    from: i64,
    to: i64,
}

mod alerts {
    use super::*;

    /// Compares each sum with the one of the window before. A window without events counts as nothing, so the sum before it
    /// is forgotten by then.
    pub(crate) struct Doubled;

    impl KeyedOperator<String, Pane<String, i64>> for Doubled {
        type State = Pane<String, i64>;
        type Out = Alert;

        fn on_event(
            &mut self,
            pane: Pane<String, i64>,
            before: &mut Option<Pane<String, i64>>,
            turn: &mut Turn<'_, String, Alert>,
        ) {
            if let Some(before) = before
                && before.window.end == pane.window.start
                && pane.value >= 2 * before.value
            {
                let (from, to) = (before.value, pane.value);
                turn.emit(Alert { user: turn.key().clone(), window: pane.window, from, to });
            }
            // When the next window has passed without a sum, there is nothing to compare with any more.
            turn.set_timer(pane.window.end + secs(10));
            *before = Some(pane);
        }

        fn on_timer(&mut self, before: &mut Option<Pane<String, i64>>, turn: &mut Turn<'_, String, Alert>) {
            if before.as_ref().is_some_and(|before| before.window.end + secs(10) <= turn.at()) {
                *before = None;
            }
        }

        fn name(&self) -> &'static str {
            "doubled"
        }
    }
}

#[pipeline(
    orders -> key_by(user)
           -> tumbling(10s, delay = 2s, late = discard)
           -> sum(cents)
           -> key_by(key)
           -> process(alerts::Doubled, late = discard)
)]
fn alerts(orders: Stream<Order>) -> Stream<Alert>;

fn main() -> Result<(), Error> {
    let order = |user: &str, at, cents| Order { user: user.to_owned(), at, cents };
    let in_order = [
        order("alice", 1, 300),
        order("bob", 2, 500),
        order("alice", 12, 250),
        order("alice", 14, 400),
        order("bob", 15, 600),
        order("bob", 33, 5_000),
        order("alice", 41, 100),
    ];
    // Within the delay the order of arrival does not matter, to operators of your own either.
    let mut shuffled = in_order.clone();
    shuffled.swap(2, 3);
    shuffled.swap(0, 1);
    for orders in [in_order, shuffled] {
        let mut pipeline = Pipeline::new(alerts);
        let mut alerts: Vec<_> = pipeline.push_batch(orders)?.collect();
        alerts.extend(pipeline.finish()?);
        for Alert { user, window, from, to } in alerts {
            println!("{window} {user}: {from} -> {to}");
        }
    }
    Ok(())
}
