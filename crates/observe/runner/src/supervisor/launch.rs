//! Builds a worker's order and starts its process.

use std::collections::BTreeMap;

use engine::{Refusal, Setting};
use model::{Cell, Experiment, Load, Step};

use super::data::RunData;
use super::hosting::Host;
use super::placement::Cpus;
use super::process::Process;
use super::workbench::Workbench;
use crate::error::RunnerError;
use crate::message::Order;

/// Returns facts about the host of a run's engine.
pub(crate) fn facts(host: &Host, cpus: &Cpus, experiment: &Experiment) -> BTreeMap<String, String> {
    host.facts().into_iter().chain(cpus.fact(experiment.placement)).collect()
}

/// Starts the worker of an order, with its allocator preloaded, on its CPUs.
pub(crate) fn start(
    bench: &Workbench<'_>,
    order: &Order,
    cpus: &Cpus,
) -> Result<Process, RunnerError> {
    let preload = order.allocator.as_ref().map(|library| bench.allocators.preload(library));
    Process::start(&bench.program, bench.data.path(), preload.as_deref(), &cpus.worker)
}

/// Builds the order of a cell.
pub(crate) fn order(
    bench: &Workbench<'_>,
    experiment: &Experiment,
    cell: &Cell,
    data: &RunData,
    steps: Vec<Step>,
) -> Result<Order, RunnerError> {
    let variant = experiment.variant(&cell.variant).expect("a plan's cells name its variants");
    let allocator = bench.allocators.find(variant.settings.allocator);
    let allocator = allocator.map_err(|error| RunnerError::Refused {
        variant: variant.name.clone(),
        refusal: Refusal::Setting {
            setting: Setting::Allocator,
            reason: error.to_string(),
            remedy: error.remedy(),
        },
    })?;
    Ok(Order {
        cell: cell.clone(),
        variant: variant.clone(),
        data: experiment.data,
        endpoint: None,
        application: experiment.application.clone(),
        clients_max: steps.iter().map(|step| step.clients).max().unwrap_or(1),
        downwards: experiment
            .steps
            .iter()
            .find(|step| workload::reads_downwards(&step.name))
            .map(|step| step.name.clone()),
        pipelined: experiment
            .steps
            .iter()
            .find(|step| matches!(step.load, Load::Pipelined(_)))
            .map(|step| step.name.clone()),
        library: bench.libraries.get(&variant.name).cloned(),
        dir: data.path.clone(),
        allocator,
        steps,
    })
}
