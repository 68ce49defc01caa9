//! The noise of earlier experiments on the same machine.

use std::collections::BTreeMap;

use model::{DataShape, RunRecord};
use serde::{Deserialize, Serialize};
use stats::{CellVariance, median};

use crate::arms::Counted;

/// What earlier experiments on a machine tell of its noise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseHistory {
    /// The cells of each earlier experiment.
    pub experiments: Vec<Vec<NoiseCell>>,
}

/// The noise of one step at one level of clients, over its repetitions, variants pooled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoiseCell {
    /// The step's name.
    pub step: String,
    /// Median length of its measured span, in seconds.
    pub seconds: f64,
    /// Variance of the logarithm, by metric.
    pub metrics: BTreeMap<String, CellVariance>,
}

/// Returns what an experiment tells of the noise; nothing when no cell was repeated.
///
/// Metrics of whole runs are not here: they are those of the steps once more.
#[must_use]
pub fn noise_cells(runs: &[RunRecord], data: &DataShape) -> Vec<NoiseCell> {
    let counted = Counted::of(runs, data, None);
    let mut cells = Vec::new();
    for (key, arms) in &counted.steps {
        let metrics: BTreeMap<String, CellVariance> = arms
            .variances()
            .into_iter()
            .map(|(metric, variance)| (metric.to_owned(), variance))
            .collect();
        let seconds = arms.of_variant.values().flat_map(|arm| arm.seconds.iter().copied());
        let seconds = median(&seconds.collect::<Vec<_>>());
        if let Some(seconds) = seconds.filter(|_| !metrics.is_empty()) {
            cells.push(NoiseCell { step: key.name.clone(), seconds, metrics });
        }
    }
    cells
}
