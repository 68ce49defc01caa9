//! The noise of earlier experiments on the same machine.

use std::collections::BTreeMap;

use model::{DataShape, RunRecord};
use serde::{Deserialize, Serialize};
use stats::{CellVariance, median};

use crate::samples::Samples;

/// Noise of earlier experiments on a machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseHistory {
    /// The cells of each earlier experiment.
    pub experiments: Vec<Vec<NoiseCell>>,
}

/// Pooled noise of one step at one level of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoiseCell {
    /// The step's name.
    pub step: String,
    /// Median length of its measured span, in seconds.
    pub seconds: f64,
    /// Variance of the logarithm, by metric.
    pub metrics: BTreeMap<String, CellVariance>,
}

/// Returns the noise cells of an experiment; none without repetitions.
pub fn noise_cells(runs: &[RunRecord], data: &DataShape) -> Vec<NoiseCell> {
    let counted = Samples::of(runs, data, None);
    let mut cells = Vec::new();
    for (key, samples) in &counted.steps {
        let metrics: BTreeMap<String, CellVariance> = samples
            .variances()
            .into_iter()
            .map(|(metric, variance)| (metric.to_owned(), variance))
            .collect();
        let seconds = samples.of_variant.values().flat_map(|sample| sample.seconds.iter().copied());
        let seconds = median(&seconds.collect::<Vec<_>>());
        if let Some(seconds) = seconds.filter(|_| !metrics.is_empty()) {
            cells.push(NoiseCell { step: key.name.clone(), seconds, metrics });
        }
    }
    cells
}
