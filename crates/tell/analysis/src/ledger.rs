//! The noise of earlier experiments on the same machine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stats::CellVariance;

/// What earlier experiments on a machine tell of its noise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// One entry for each earlier experiment.
    pub experiments: Vec<Vec<LedgerCell>>,
}

/// The noise of one variant's step at one level of clients, over its repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LedgerCell {
    /// The step's name.
    pub step: String,
    /// Median length of its measured span, in seconds.
    pub seconds: f64,
    /// Variance of the logarithm, by metric.
    pub metrics: BTreeMap<String, CellVariance>,
}
