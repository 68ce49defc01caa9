//! Resource use of a variant, and the resource that binds.

use model::{CpuCount, RunRecord, StepRecord, metric};
use serde::Serialize;

use super::account::{Part, Subject};
use crate::explain::Account;
use crate::metrics::whole_cpu_us;

/// Share of a resource from which it binds.
///
/// Our choice: at nine tenths of full use, queueing dominates the response time.
pub const BINDS_FROM: f64 = 0.9;

/// A resource that can limit throughput.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// CPUs: CPU of the process and its server over time and CPUs.
    Cpus,
    /// Clients: their time on a CPU.
    Clients,
    /// Device: its busy time.
    ///
    /// A device that serves several requests at a time is not full even when it is always busy.
    Device,
}

/// Resource use of one variant, as shares.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bound {
    /// The variant's name.
    pub variant: String,
    /// The resources and the shares used, means over the runs.
    pub used: Vec<(Resource, f64)>,
    /// The binding resource: the first used to nine tenths.
    pub binding: Option<Resource>,
}

/// Returns how much of each resource a variant used; `side` picks its part of an account.
///
/// Source: the utilisation law and its bounds [Denning Buzen 1978].
pub(super) fn bound(
    variant: &str,
    runs: &[(&RunRecord, &StepRecord)],
    cpus: CpuCount,
    time_on_cpu: Option<f64>,
) -> Bound {
    let mean = |value: &dyn Fn(&StepRecord) -> Option<f64>| -> Option<f64> {
        let values: Vec<f64> = runs.iter().map(|(_, step)| value(step)).collect::<Option<_>>()?;
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let cpu = |step: &StepRecord| {
        let used_us = whole_cpu_us(step, &step.counters)?;
        Some(used_us / step.counted_ns().as_micros_f64() / cpus.or_one())
    };
    let device = |step: &StepRecord| {
        let busy_us = step.counters.value(metric::DEVICE_BUSY_US)?;
        Some(busy_us / step.sampled_ns().as_micros_f64())
    };
    let used = [
        (Resource::Cpus, mean(&cpu)),
        (Resource::Clients, time_on_cpu),
        (Resource::Device, mean(&device)),
    ];
    let used: Vec<(Resource, f64)> =
        used.into_iter().filter_map(|(which, share)| Some((which, share?.min(1.0)))).collect();
    let full = used.iter().filter(|(_, share)| *share >= BINDS_FROM);
    // Of two that are full, the one that more clients would not relieve.
    let binding = full.map(|(which, _)| *which).next();
    Bound { variant: variant.to_owned(), used, binding }
}

/// Returns the share of their time that each side's clients were on a CPU; closed loops only.
pub(super) fn time_on_cpu(subject: Subject, account: Option<&Account>) -> [Option<f64>; 2] {
    let Some(account) = account.filter(|_| subject == Subject::TimePerOperation) else {
        return [None, None];
    };
    let on_cpu = [Part::ClientThreads, Part::ClientCpu, Part::EngineCpu, Part::KernelCpu];
    let is_known = |part| account.component(part).is_some();
    if !(is_known(Part::EngineCpu) || is_known(Part::ClientThreads)) {
        return [None, None];
    }
    let known = || on_cpu.iter().filter_map(|part| account.component(*part));
    let sum = |side: fn(&stats::MeanDifference) -> f64| -> f64 {
        known().map(|component| side(&component.us)).sum::<f64>() / side(&account.total)
    };
    [Some(sum(|us| us.base)), Some(sum(|us| us.variant))]
}
