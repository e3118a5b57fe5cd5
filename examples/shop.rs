//! Three sources that meet, and a stream that parts: orders with the customer's plan as of their time and the clicks that
//! led to them.
//!
//! `cargo run --example shop`

use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Order {
    id: u64,
    customer: String,
    #[event(time, unit = "s")]
    at: i64,
    cents: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Click {
    customer: String,
    #[event(time, unit = "s")]
    at: i64,
    page: String,
}

/// A customer's plan from this instant on.
#[derive(Clone, Debug, Serialize, Deserialize, Event)]
struct Plan {
    customer: String,
    #[event(time, unit = "s")]
    at: i64,
    plan: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Priced {
    plan: String,
    cents: i64,
}

/// What a plan brought in, in ten seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sales {
    cents: i64,
    orders: u64,
    largest: i64,
}

#[pipeline({
    let firsts = orders -> dedup(id, ttl = 1h) -> watermark(delay = 3s);
    let priced = firsts -> enrich(plans, on = customer, missing = port, delay = 0s, late = discard) as with_plan;
    let sales = priced
        -> map(|(order, plan)| Priced { plan: plan.plan, cents: order.cents })
        -> key_by(plan)
        -> tumbling(10s)
        -> aggregate(cents = sum(cents), orders = count(), largest = max(cents));
    let refunds = firsts -> filter(|order| order.cents < 0);
    let led = clicks -> join(firsts, on = customer, within = 0s..=60s, delay = 3s, late = discard);
    (
        sales,
        union(refunds, with_plan.missing),
        led -> map(|(click, order)| format!("{} led to order {}", click.page, order.id)),
        sales.late,
    )
})]
fn shop(
    orders: Stream<Order>,
    clicks: Stream<Click>,
    plans: Stream<Plan>,
) -> (Stream<Pane<String, Sales>>, Stream<Order>, Stream<String>, Stream<Late<Priced>>);

fn main() -> Result<(), Error> {
    let order = |id, customer: &str, at, cents| Order { id, customer: customer.into(), at, cents };
    let click = |customer: &str, at, page: &str| Click { customer: customer.into(), at, page: page.into() };
    let plan = |customer: &str, at, plan: &str| Plan { customer: customer.into(), at, plan: plan.into() };

    let mut pipeline = Pipeline::try_new(shop)?;
    print!("{}", pipeline.describe());
    let (orders, clicks, plans) = pipeline.inputs();
    let _ =
        pipeline.push_batch_to(plans, [plan("alice", 0, "basic"), plan("bob", 0, "pro"), plan("alice", 6, "pro")])?;
    let _ = pipeline.push_batch_to(clicks, [click("alice", 1, "/shoes"), click("bob", 2, "/hats")])?;
    let _ = pipeline.push_batch_to(
        orders,
        [
            order(1, "alice", 5, 4_000),
            order(2, "alice", 8, 2_500),
            order(2, "alice", 8, 2_500),
            order(3, "carol", 7, 100),
            order(4, "bob", 12, 900),
        ],
    )?;
    let (sales, to_check, led, _late) = pipeline.finish()?;
    for pane in sales {
        let Sales { cents, orders, largest } = pane.value;
        println!("{} {}: {cents} cents, {orders} orders, largest {largest}", pane.window, pane.key);
    }
    for order in to_check {
        println!("to check: order {} of {}", order.id, order.customer);
    }
    for line in led {
        println!("{line}");
    }
    Ok(())
}
