//! What other cells tell of the noise of one: the prior of a moderated variance.

use serde::{Deserialize, Serialize};

/// The variance of ln(metric) over the runs of one cell (a variant's step), within its arm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CellVariance {
    /// Sample variance of the logarithms, >= 0.
    pub variance: f64,
    /// Its degrees of freedom: runs less one.
    pub df: f64,
}

/// What the noise of a cell is expected to be before it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Prior {
    /// Expected variance of the logarithms.
    pub variance: f64,
    /// Degrees of freedom that this expectation is worth.
    pub df: f64,
    /// Cells it was fitted to.
    pub cells: u32,
}
