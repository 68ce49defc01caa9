//! Comparison of a worker's clock with the kernel's.

use serde::{Deserialize, Serialize};

/// Comparison of the worker's clock with the kernel's after all steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClockRecord {
    /// Source of the timestamps: `tsc`, or `clock_gettime` with the reason.
    pub source: String,
    /// Drift against the kernel's clock, parts per million.
    ///
    /// `None` when the run was too short, or the kernel's clock was itself the source.
    pub drift_ppm: Option<f64>,
    /// Whether the timestamps are reliable.
    pub is_sound: bool,
}
