//! How much a metric varies from run to run, and where that is known from.

use serde::Serialize;
use stats::Prior;

/// What is known of one metric's noise before two variants are compared by it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Noise {
    /// The expected variance of its logarithm, and what that expectation is worth.
    #[serde(flatten)]
    pub prior: Prior,
    /// Cells of the runs compared here, of those it was fitted to.
    pub own_cells: u32,
    /// Cells of earlier experiments on this machine, of those it was fitted to.
    pub earlier_cells: u32,
    /// The earlier experiments that these are from.
    pub earlier_experiments: u32,
}
