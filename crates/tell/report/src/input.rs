//! Everything a report is made from.

use analysis::Comparison;
use model::record::IntervalRecord;
use model::{Manifest, RunRecord};

/// One experiment's records with their comparison.
#[derive(Debug, Clone, Copy)]
pub struct ReportInput<'a> {
    /// The experiment.
    pub manifest: &'a Manifest,
    /// Its runs.
    pub runs: &'a [RunRecord],
    /// Each run's intervals, in the order of `runs`; a run without any may have an empty entry.
    pub intervals: &'a [Vec<IntervalRecord>],
    /// The comparison of these runs.
    pub comparison: &'a Comparison,
}
