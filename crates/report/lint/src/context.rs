//! The inputs of rules: plan, run, comparison.

use std::cell::OnceCell;

use analysis::Comparison;
use model::{Cell, DeviceRecord, Experiment, Host, RunRecord};

use crate::facts::{Sample, samples};

/// A plan, before machine time is spent.
#[derive(Debug, Clone, Copy)]
pub struct PlanContext<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its runs in their order; empty once they were executed.
    pub cells: &'a [Cell],
    /// The machine; `None` when the plan is read elsewhere.
    pub host: Option<&'a Host>,
    /// Whether a rule has a code: [`crate::has_rule`].
    pub has_rule: fn(&str) -> bool,
}

impl PlanContext<'_> {
    /// Returns whether no run exists yet, so that findings must be predicted.
    pub(crate) const fn is_before_runs(&self) -> bool {
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
    /// Valid runs of its variant and level; 0 when alone.
    pub peers: usize,
    /// Whether a rule has a code: [`crate::has_rule`].
    pub has_rule: fn(&str) -> bool,
}

/// A comparison, with the runs behind it.
#[derive(Debug)]
pub struct ComparisonContext<'a> {
    /// The experiment; for joined ones, their common one.
    pub experiment: &'a Experiment,
    /// The machines of the runs: each machine of a fleet, and one machine per other experiment.
    pub hosts: &'a [&'a Host],
    /// The runs in the order they were executed, invalid ones included.
    pub runs: &'a [RunRecord],
    /// Their comparison.
    pub comparison: &'a Comparison,
    /// Stored profiles of storage, oldest first.
    pub profiles: &'a [DeviceRecord],
    /// Collected once for all rules.
    samples: OnceCell<Vec<Sample<'a>>>,
}

impl<'a> ComparisonContext<'a> {
    /// Returns the context of a comparison of `runs`.
    pub const fn of(
        experiment: &'a Experiment,
        hosts: &'a [&'a Host],
        runs: &'a [RunRecord],
        comparison: &'a Comparison,
    ) -> Self {
        Self { experiment, hosts, runs, comparison, profiles: &[], samples: OnceCell::new() }
    }

    /// Adds the stored profiles of storage.
    #[must_use]
    pub fn with_profiles(self, profiles: &'a [DeviceRecord]) -> Self {
        Self { profiles, ..self }
    }

    /// Returns the sample behind each cell of the comparison.
    pub(crate) fn samples(&self) -> &[Sample<'a>] {
        let collect = || samples(self.comparison, self.valid().collect(), &self.experiment.data);
        self.samples.get_or_init(collect)
    }

    /// Returns the runs that count.
    pub fn valid(&self) -> impl Iterator<Item = &'a RunRecord> {
        self.runs.iter().filter(|run| run.is_counted())
    }
}
