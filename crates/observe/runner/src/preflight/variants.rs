//! Checks before the first run: disk, rights, load, and every engine.

use std::collections::{BTreeMap, BTreeSet};

use archive::ScratchDir;
use engine::{EngineError, Refusal, Setting};
use load::{Clock, SteadyClock};
use model::server::FALLBACK;
use model::sql::TrafficSpec;
use model::{Cell, DurabilityRecord, Experiment, Identity, Nanos, Options, RunEnd, Variant};

use super::connections::check_connections;
use super::demand::check_demand;
use crate::error::RunnerError;
use crate::message::{Command, Message, Opened};
use crate::supervisor::hosting::Host;
use crate::supervisor::memory::MemoryWatch;
use crate::supervisor::placement::Cpus;
use crate::supervisor::process::{Process, WorkerEvent};
use crate::supervisor::workbench::{Progress, WATCH_EVERY, Workbench, check_disk};

/// Longest time an engine may take to open and close an empty directory, whatever the watchdog.
const OPEN_MAX: Nanos = Nanos::from_secs(60);
/// Time after which an engine that is not open yet is reported.
const REPORTED_AFTER: Nanos = Nanos::from_secs(2);

/// Checks disk, load and memory cap, and opens every engine; the text was checked before, and the
/// limits of the host by [`host_refusals`](crate::host_refusals).
///
/// Returns each build's identity. Each engine opens once in a scratch directory, in a process of
/// its own, under the experiment's memory cap, so a refused option and a cap without rights are
/// known before machine time is spent. An engine that waits for other users of its server is
/// reported to `progress`, and so is what is notable about the durability of a variant's writes.
///
/// # Errors
/// [`RunnerError::Refused`] with the engine's reason, [`RunnerError::Load`] or
/// [`RunnerError::Clients`] for a load that this host cannot offer, and others.
pub fn check_variants(
    bench: &Workbench<'_>,
    experiment: &Experiment,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<BTreeMap<String, Identity>, RunnerError> {
    check_disk(bench)?;
    if experiment.is_profiled {
        // The trial of each build is archived in the directory for temporary files.
        drop(ScratchDir::new()?);
    }
    check_demand(experiment)?;
    let mut identities = BTreeMap::new();
    for variant in &experiment.variants {
        let checked = check_variant(bench, experiment, variant, progress)?;
        for text in &checked.durability.notes {
            progress(Progress::Note(&format!("{}: {text}", variant.name)));
        }
        if let Some(text) = checked.identity.facts.get(FALLBACK) {
            progress(Progress::Note(&format!("{}: {text}", variant.name)));
        }
        identities.insert(variant.name.clone(), checked.identity);
    }
    Ok(identities)
}

fn check_variant(
    bench: &Workbench<'_>,
    experiment: &Experiment,
    variant: &Variant,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Checked, RunnerError> {
    let name = &variant.name;
    let start = Host::start_of(bench, variant).unwrap_or_else(|| {
        let limit = OPEN_MAX.min(bench.watchdog);
        format!("for `{name}` to be opened and closed once, at most {limit}")
    });
    progress(Progress::Begins(&start));
    let mut checked = open_once(bench, experiment, variant, progress);
    if checked.is_err() && bench.interrupt.level() > 0 {
        return Err(RunnerError::Interrupted);
    }
    if let Err(RunnerError::Refused(_, Refusal::Option { known, .. })) = &mut checked
        && known.is_empty()
        && bench.servers.contains_key(&variant.name)
    {
        // A server has more options than its driver lists.
        let plain = Variant { options: Options::new(), ..variant.clone() };
        let names = |options: Options| options.iter().map(|(name, _)| name.to_owned()).collect();
        let opened = open_once(bench, experiment, &plain, progress);
        *known = opened.map(|opened| names(opened.effective_options)).unwrap_or_default();
    }
    checked
}

/// What the check of a variant finds.
struct Checked {
    identity: Identity,
    effective_options: Options,
    durability: Box<DurabilityRecord>,
}

/// Opens a variant's engine in a scratch directory.
fn open_once(
    bench: &Workbench<'_>,
    experiment: &Experiment,
    variant: &Variant,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Checked, RunnerError> {
    let cell = Cell {
        id: format!("check-{}", std::process::id()),
        variant: variant.name.clone(),
        clients: 1,
        repetition: 0,
        seed: 0,
    };
    let data = bench.data.fresh(&cell.id)?;
    let mut order = bench.order(experiment, &cell, &data, Vec::new())?;
    order.variant = variant.clone();
    let cpus = Cpus::of(experiment)?;
    let refused = |refusal| RunnerError::Refused(variant.name.clone(), refusal);
    let mut host = match Host::open(bench, experiment, variant, &data, &cpus) {
        Err(RunnerError::Server(error)) => return Err(refused(EngineError::from(error).into())),
        opened => opened?,
    };
    order.server = host.server(experiment, called_procedures(experiment));
    let mut process = bench.start(&order, &cpus, host.own_network())?;
    let limit = experiment.memory_bytes.filter(|_| matches!(host, Host::Worker));
    // Dropped after the process, which lives in it.
    let memory = MemoryWatch::begin(limit, process.pid())?;
    process.send(&Command::Run(Box::new(order)));
    let mut report =
        |text: &str| progress(Progress::Waits(&format!("variant `{}`: {text}", variant.name)));
    let mut result = follow(process, &memory, bench, &mut report);
    if let Some(Ok(Checked { effective_options, .. })) = &result
        && let Err(refusal) = check_connections(effective_options, &variant.options, experiment)
    {
        result = Some(Err(refusal));
    }
    if let Some(Ok(Checked { identity, .. })) = &mut result {
        identity.facts.extend(host.facts(bench));
        identity.facts.extend(cpus.fact(experiment.placement));
    } else if let (Some(result), Some(end)) = (&mut result, host.exit_of_server("open")) {
        let reason = if let RunEnd::Crashed { reason, .. } = end { reason } else { end.phrase() };
        *result = Err(Refusal::Build { reason });
    }
    // Its data are not needed.
    host.close(&|| true);
    result.ok_or(RunnerError::Interrupted)?.map_err(refused)
}

/// Returns the positions of the procedures that the experiment calls, in the order of its steps.
fn called_procedures(experiment: &Experiment) -> Vec<u16> {
    let Some(application) = &experiment.application else { return Vec::new() };
    let steps = experiment.steps.iter().filter_map(|step| application.step(&step.name));
    let mut known = BTreeSet::new();
    steps.flat_map(TrafficSpec::positions).filter(|position| known.insert(*position)).collect()
}

/// Follows one preflight; an engine that crashes or hangs in it is refused.
///
/// Returns `None` when the user interrupted it. What it waits for is reported.
fn follow(
    mut process: Process,
    memory: &MemoryWatch,
    bench: &Workbench<'_>,
    report: &mut dyn FnMut(&str),
) -> Option<Result<Checked, Refusal>> {
    let clock = SteadyClock::kernel();
    let (begun, limit) = (clock.now(), OPEN_MAX.min(bench.watchdog));
    let (mut opened, mut other_allocator, mut waits_for) = (None, None, None);
    loop {
        match process.receive(WATCH_EVERY) {
            WorkerEvent::Message(message) => {
                if let Message::Opened(engine) = *message {
                    let Opened { identity, effective_options, durability, .. } = *engine;
                    opened = Some(Checked { identity, effective_options, durability });
                } else if let Message::Refused { refusal } = *message {
                    let Refusal::Setting { setting: Setting::Allocator, reason, remedy } = refusal
                    else {
                        return Some(Err(refusal));
                    };
                    other_allocator = Some((reason, remedy));
                } else if let Message::Waits { text } = *message {
                    report(&text);
                    waits_for = Some(text);
                } else if matches!(*message, Message::Closed { .. }) {
                    break;
                }
            }
            WorkerEvent::Broken(error) => {
                let reason = format!("its worker's messages cannot be trusted: {error}");
                return Some(Err(Refusal::Build { reason }));
            }
            WorkerEvent::Silence => {}
            WorkerEvent::End { .. } => break,
        }
        if bench.interrupt.level() > 0 {
            return None;
        }
        let took = clock.now().since(begun);
        if took > limit {
            process.kill();
            let wait = waits_for.map_or_else(String::new, |wait| format!(": {wait}"));
            let reason = format!("the engine did not open and close within {limit}{wait}");
            return Some(Err(Refusal::Build { reason }));
        }
        if took > REPORTED_AFTER && opened.is_none() && waits_for.is_none() {
            let text = format!(
                "the engine is not open after {REPORTED_AFTER}; Assay waits for at most {limit}"
            );
            report(&text);
            waits_for = Some(text);
        }
    }
    let ended = process.ended();
    if let Some((reason, remedy)) = other_allocator {
        let (reason, remedy) = match loader_message(&ended.stderr) {
            Some(text) => (
                format!("{reason}; the loader: {text}"),
                "install the library anew, or take its directory out of LD_LIBRARY_PATH".to_owned(),
            ),
            None => (reason, remedy),
        };
        return Some(Err(Refusal::Setting { setting: Setting::Allocator, reason, remedy }));
    }
    let reason = match (opened, ended.failure()) {
        (Some(opened), None) => return Some(Ok(opened)),
        (_, Some(reason)) if memory.has_killed(ended.status) => format!(
            "the engine ran out of memory while it opened: {reason} ({}); raise the memory limit: \
             `memory` in the experiment, or --memory",
            memory.evidence()
        ),
        (_, Some(reason)) => format!("the engine died while it opened: {reason}"),
        (None, None) => "the worker ended without a message".to_owned(),
    };
    Some(Err(Refusal::Build { reason }))
}

/// Returns the loader's message about a library that it could not preload.
///
/// Source: [glibc 2.36], `elf/rtld.c`, `do_preload`: it goes on without the library.
fn loader_message(stderr: &str) -> Option<&str> {
    stderr.lines().find_map(|line| line.strip_prefix("ERROR: ld.so: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_s_message_is_found_in_other_output() {
        let stderr = "hello\nERROR: ld.so: object 'x.so' from LD_PRELOAD cannot be preloaded \
                    (file too short): ignored.";
        let message =
            "object 'x.so' from LD_PRELOAD cannot be preloaded (file too short): ignored.";
        assert_eq!(loader_message(stderr), Some(message));
        assert_eq!(loader_message("hello"), None);
    }
}
