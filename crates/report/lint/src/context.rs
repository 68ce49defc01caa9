//! What rules are given to look at.

use analysis::Comparison;
use model::{Cell, Experiment, Host, RunRecord};

/// A plan, before machine time is spent.
#[derive(Debug, Clone, Copy)]
pub struct PlanContext<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its runs in their order; empty once they were executed and speak for themselves.
    pub cells: &'a [Cell],
    /// The machine; `None` when the plan is read elsewhere.
    pub host: Option<&'a Host>,
}

impl PlanContext<'_> {
    /// Returns whether nothing was run yet, so that what runs would show must be guessed.
    pub(crate) const fn is_ahead(&self) -> bool {
        !self.cells.is_empty()
    }
}

/// One run, after it ended.
#[derive(Debug, Clone, Copy)]
pub struct RunContext<'a> {
    /// The experiment it belongs to.
    pub experiment: &'a Experiment,
    /// The machine it was made on.
    pub host: &'a Host,
    /// Its record.
    pub run: &'a RunRecord,
    /// Runs of the same variant and level that count, beside which it is read; 0 when it is read
    /// alone.
    pub peers: usize,
}

/// A comparison, with the runs behind it.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonContext<'a> {
    /// The experiment; of several that were joined, their common one.
    pub experiment: &'a Experiment,
    /// The machines the runs were made on, one per joined experiment.
    pub hosts: &'a [&'a Host],
    /// The runs in the order they were executed, invalid ones included.
    pub runs: &'a [RunRecord],
    /// What was found of them.
    pub comparison: &'a Comparison,
}

impl<'a> ComparisonContext<'a> {
    /// Returns the runs that count.
    pub fn valid(&self) -> impl Iterator<Item = &'a RunRecord> {
        self.runs.iter().filter(|run| run.invalid.is_none())
    }
}
