//! Runs a plan's cells one after the other.

use std::sync::Arc;

use archive::{ExperimentDir, RunWriter};
use engine::EngineError;
use load::{Clock, SteadyClock};
use model::record::SCHEMA;
use model::{Cell, Manifest, RunEnd, RunRecord};
use sampler::IsLog;
use server::ServerError;

use super::accumulator::StepAccumulator;
use super::data::RunData;
use super::hosting::Host;
use super::memory::MemoryWatch;
use super::placement::Cpus;
use super::process::Process;
use super::supervise::Supervisor;
use super::watch::Watch;
use super::workbench::{Progress, Workbench, check_disk};
use crate::error::RunnerError;
use crate::message::Command;
use crate::stamp::now_utc;

/// Suffixes of the names of write-ahead logs, of all engines.
const LOG_SUFFIXES: &[&str] = &[".log", "-wal", "-journal", ".jnl"];

/// Returns whether a file is a write-ahead log, by its name.
fn is_log(path: &std::path::Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    LOG_SUFFIXES.iter().any(|suffix| name.ends_with(suffix.as_bytes()))
}

/// Runs the cells without a complete run; returns how many are complete.
///
/// # Errors
/// When the archive, the data directory or the memory cap fails; measurements stay archived.
pub fn run_cells(
    bench: &Workbench<'_>,
    manifest: &Manifest,
    dir: &ExperimentDir,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<usize, RunnerError> {
    let clock = SteadyClock::calibrate();
    let mut todo = Vec::new();
    let mut complete = 0;
    for cell in &manifest.plan.cells {
        match dir.run(&cell.id)? {
            Some(run) if run.end.is_complete() => complete += 1,
            _ => todo.push(cell),
        }
    }
    let total = todo.len();
    for (number, cell) in (1..).zip(todo) {
        if bench.interrupt.level() > 0 {
            break;
        }
        progress(Progress::RunBegins { number, total, cell });
        let run = run_cell(bench, manifest, dir, cell, (&clock, &mut *progress))?;
        complete += usize::from(run.end.is_complete());
    }
    Ok(complete)
}

/// Runs one cell in a worker of its own.
fn run_cell(
    bench: &Workbench<'_>,
    manifest: &Manifest,
    dir: &ExperimentDir,
    cell: &Cell,
    (clock, progress): (&SteadyClock, &mut dyn FnMut(Progress<'_>)),
) -> Result<RunRecord, RunnerError> {
    let experiment = &manifest.plan.experiment;
    let variant = experiment.variant(&cell.variant).expect("a plan's cells name its variants");
    let steps = experiment.steps_for(cell.clients);
    check_disk(bench)?;
    let data = bench.data.fresh(&format!("{}.{}", manifest.id, cell.id))?;
    let mut order = bench.order(experiment, cell, &data, steps.clone())?;
    let cpus = Cpus::of(experiment)?;
    let record = RunRecord {
        schema: SCHEMA,
        id: format!("{}/{}", manifest.id, cell.id),
        cell: cell.clone(),
        variant: variant.clone(),
        identity: None,
        effective_options: model::Options::new(),
        clock: None,
        calibration: None,
        invalid: None,
        load: None,
        started_at: now_utc(),
        ended_at: None,
        steps: Vec::new(),
        end: RunEnd::Running,
    };
    let writer = dir.begin_run(&cell.id)?;
    writer.write_record(&record)?;
    let host = match Host::open(bench, experiment, variant, &data, &cpus) {
        Ok(host) => host,
        Err(RunnerError::Server(error)) => {
            let run = without_server(&writer, record, &data, error)?;
            progress(Progress::RunEnds(&run));
            return Ok(run);
        }
        Err(error) => return Err(error),
    };
    order.endpoint = host.endpoint();
    let mut process = bench.start(&order, &cpus)?;
    // The cap is on the server and its page cache, when there is one.
    let limit = experiment.memory_bytes.filter(|_| matches!(host, Host::Worker));
    let memory = MemoryWatch::begin(limit, &process)?;
    let samplers = samplers(&process, &memory, &data, &host);
    process.send(&Command::Run(Box::new(order)));
    let facts = host.facts().into_iter().chain(cpus.fact(experiment.placement)).collect();
    let roles = steps.iter().map(|step| step.role(experiment.application.as_ref())).collect();
    let first = steps.first().expect("a plan's cells have steps").clone();
    let accumulator = StepAccumulator::open(clock, samplers, first, experiment.placement);
    let supervisor = Supervisor {
        bench,
        process,
        host,
        facts,
        data,
        memory,
        clock,
        writer,
        record,
        accumulator,
        watch: Watch::begin(clock.now()),
        steps,
        roles,
        engine_files: Vec::new(),
        end: None,
        is_closed: false,
        is_torn: false,
    };
    Ok(supervisor.run(progress)?)
}

/// Returns the samplers of a run.
fn samplers(
    process: &Process,
    memory: &MemoryWatch,
    data: &RunData,
    host: &Host,
) -> Vec<sampler::Sampler> {
    let is_log: IsLog = Arc::new(is_log);
    let (data_dir, is_log) = host.data().unwrap_or_else(|| (data.path.clone(), is_log));
    sampler::for_run(sampler::RunTargets {
        pid: process.pid(),
        data_dir,
        cgroup: memory.own_group(),
        is_log: Some(is_log),
        server: host.targets(),
        foreign: host.foreign(),
    })
}

/// Archives the record of a run whose server did not start.
fn without_server(
    writer: &RunWriter,
    mut record: RunRecord,
    data: &RunData,
    error: ServerError,
) -> Result<RunRecord, RunnerError> {
    let log = data.path.join(server::LOG);
    let stored = if log.exists() { writer.keep_engine_file(&log) } else { Ok(()) };
    let not_stored = stored.err().map(|error| format!("; its log is not stored: {error}"));
    let step = "open".to_owned();
    record.end = if matches!(error, ServerError::Interrupted) {
        RunEnd::Interrupted { step }
    } else {
        let reason = EngineError::from(error).to_string() + &not_stored.unwrap_or_default();
        RunEnd::Failed { step, reason }
    };
    record.ended_at = Some(now_utc());
    writer.finish(&record)?;
    Ok(record)
}
