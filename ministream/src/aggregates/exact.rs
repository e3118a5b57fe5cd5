//! stub
use serde::{Deserialize, Serialize};
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ExactSum(f64);
impl ExactSum {
    pub fn add(&mut self, v: f64) {
        self.0 += v
    }
    pub fn merge(&mut self, v: &ExactSum) {
        self.0 += v.0
    }
    pub fn value(&self) -> f64 {
        self.0
    }
    pub fn value_f32(&self) -> f32 {
        self.0 as f32
    }
}
