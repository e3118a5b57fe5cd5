//! The event of the programs beside it.

pub use ministream::prelude::*;
pub use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
pub struct Click {
    pub event_id: u64,
    pub user: String,
    pub country: String,
    #[event(time, unit = "ms")]
    pub ts: i64,
    pub value: i64,
    pub temperature: f64,
    pub active: bool,
    pub device: Device,
    pub tags: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Device {
    pub id: u32,
    pub pair: (u8, String),
}
