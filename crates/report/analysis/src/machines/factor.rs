//! Machines of runs: their hosts, and their ratios as data.

use std::collections::BTreeMap;

use model::{Host, Machine, RunRecord, StepClients, float};
use serde::Serialize;
use stats::Variation;

/// Machines of a comparison, as a random factor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineFactor {
    /// Fingerprint of the machines' class; `None` when machines are of several.
    pub class: Option<String>,
    /// The machines, by name.
    pub machines: Vec<MachineRuns>,
    /// Ratios of each step's own metrics, by machine.
    pub ratios: Vec<MachineRatios>,
}

/// A machine with its runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MachineRuns {
    /// Name of the machine.
    pub name: String,
    /// Fingerprint of its host.
    pub fingerprint: String,
    /// Blocks in which it did a run that counts.
    pub blocks: u32,
    /// Runs that count.
    pub runs: u32,
}

/// Ratio of one variant to the base on each machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineRatios {
    /// Position of the step in the run, 0-based.
    pub index: u32,
    /// The step's name.
    pub step: String,
    /// Level of the clients factor, and the step's clients.
    #[serde(flatten)]
    pub clients: StepClients,
    /// The variant.
    pub variant: String,
    /// Name of the metric.
    pub metric: &'static str,
    /// Ratio on each machine, in their order; `None` where a machine lacks a side.
    pub ratios: Vec<Option<f64>>,
    /// Deviation of the ratio between machines, a share; `None` if no block was repeated.
    pub between: Option<Variation>,
    /// Deviation between machines to plan with, a share: of few machines an upper bound of 80 %.
    #[serde(skip)]
    pub planned: f64,
    /// Deviation of the ratio between blocks of one machine, a share.
    pub within: Option<f64>,
    /// Machine that differs from the others beyond margin and chance.
    pub outlier: Option<String>,
    /// Precision on more machines with as many blocks each.
    pub more: Forecast,
}

/// Expected precision on a number of machines.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Forecast {
    /// Machines.
    pub machines: u32,
    /// Half-width of the 95 % interval, a share.
    pub half_width: f64,
}

/// Returns the hosts of runs: the hosts of their machines, else the host of the manifest.
///
/// One for each machine, by name; the host of the manifest comes first where some runs name no
/// machine, and is alone where none does.
pub fn effective_hosts<'a>(
    host: &'a Host,
    runs: impl IntoIterator<Item = &'a RunRecord>,
) -> Vec<&'a Host> {
    let mut hosts: BTreeMap<Option<&str>, &Host> = BTreeMap::new();
    for run in runs {
        hosts.entry(run.machine.as_ref().map(|it| &*it.name)).or_insert(run.host_or(host));
    }
    if hosts.is_empty() { vec![host] } else { hosts.into_values().collect() }
}

/// Returns the arithmetic mean of each machine's values, one a run; of one machine the values.
pub(crate) fn means_by_machine<'a>(
    runs: impl Iterator<Item = &'a RunRecord>,
    values: Vec<f64>,
) -> Vec<f64> {
    let mut machines: BTreeMap<Option<&str>, Vec<f64>> = BTreeMap::new();
    for (run, value) in runs.zip(&values) {
        machines.entry(run.machine.as_ref().map(|it| &*it.name)).or_default().push(*value);
    }
    let mean = |own: Vec<f64>| own.iter().sum::<f64>() / float(own.len());
    if machines.len() > 1 { machines.into_values().map(mean).collect() } else { values }
}

/// Returns the machines that runs name, each once and by name.
pub fn machines_of(runs: &[RunRecord]) -> Vec<&Machine> {
    let machines = runs.iter().filter_map(|run| run.machine.as_deref());
    let by_name: BTreeMap<&str, &Machine> = machines.map(|one| (&*one.name, one)).collect();
    by_name.into_values().collect()
}
