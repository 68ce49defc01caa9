//! Runs with everything that is concluded of them: what `compare`, `run` and `report` begin with.

use analysis::{Comparison, Ledger, compare};
use lint::{ComparisonContext, Found, check_comparison};
use miette::Result;
use model::{Experiment, Host, RunRecord};

use crate::told::Told as _;

/// What is concluded of some runs.
pub(crate) struct Judged {
    pub(crate) comparison: Comparison,
    /// What doubts it, the gravest first.
    pub(crate) findings: Vec<Found>,
}

/// Compares the runs of `experiment` with `base` and asks every rule about them.
pub(crate) fn judge(
    experiment: &Experiment,
    hosts: &[&Host],
    runs: &[RunRecord],
    base: &str,
) -> Result<Judged> {
    let comparison = compare(runs, experiment, base, &Ledger::default()).told()?;
    let context = ComparisonContext { experiment, hosts, runs, comparison: &comparison };
    let findings = check_comparison(&context);
    Ok(Judged { comparison, findings })
}
