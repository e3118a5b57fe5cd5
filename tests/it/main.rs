//! The integration tests: what users of the public interface can rely on.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod aggregates;
mod architecture;
mod composition;
mod costs;
mod flows;
mod model;
mod properties;
mod rules;
mod timeline;
mod twins;
mod ui;
mod vectors;
