//! Runs a plan's cells one after the other.

use std::sync::Arc;

use archive::ExperimentDir;
use engine::{EngineError, NO_ANSWER};
use load::{Clock, SteadyClock};
use model::{Address, Cell, DriveSpan, Experiment, Manifest, RunEnd, RunRecord, Variant};
use sampler::IsLog;
use server::{Network, ServerError};
use snapshot::Store;

use super::accumulator::StepAccumulator;
use super::data::RunData;
use super::hosting::Host;
use super::memory::MemoryWatch;
use super::placement::Cpus;
use super::profile_trial::profiling;
use super::profiling::{Profiling, RunProfiler};
use super::run_load::RunLoad;
use super::server_events::ServerEvents;
use super::simulated_disk;
use super::supervise::{Supervised, Supervisor};
use super::watch::Watch;
use super::workbench::{Progress, Served, Workbench, check_disk};
use super::worker_group::WorkerGroup;
use super::workers::Workers;
use crate::error::RunnerError;
use crate::message::{Command, Order};
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
    if manifest.plan.experiment.has_disk_events() {
        crashfs::enter_namespace()?;
    }
    let clock = SteadyClock::calibrate();
    Store::below(bench.data.path()).clean_up();
    let run = |manifest: &Manifest, dir: &ExperimentDir, profiling: &Profiling| {
        let planned = Planned { manifest, dir, profiling: Some(profiling) };
        run_cell(bench, planned, &manifest.plan.cells[0], &clock, &mut |_| ())
    };
    let profiling = profiling(bench, manifest, dir, &run, progress)?;
    let planned = Planned { manifest, dir, profiling: profiling.as_ref() };
    let mut todo = Vec::new();
    let mut complete = 0;
    let is_of_block = |cell: &&Cell| bench.block.is_none_or(|block| cell.repetition == block);
    for cell in manifest.plan.cells.iter().filter(is_of_block) {
        match dir.run(&cell.id)? {
            Some(run) if run.end.is_complete() => complete += 1,
            _ => todo.push(cell),
        }
    }
    let (total, mut silent) = (todo.len(), Vec::new());
    for (number, cell) in (1..).zip(todo) {
        if bench.interrupt.forbids_runs() {
            break;
        }
        if address(bench, cell).is_some_and(|address| silent.contains(address)) {
            continue;
        }
        progress(Progress::RunBegins { number, total, cell });
        let run = run_cell(bench, planned, cell, &clock, progress)?;
        if let Some(address) = address(bench, cell).filter(|_| is_silent(&run)) {
            progress(Progress::Note(&format!(
                "the server at {address} does not answer: Assay leaves out the runs that need the \
                 server; `--resume` does them"
            )));
            silent.push(address.clone());
        }
        complete += usize::from(run.end.is_complete());
    }
    Ok(complete)
}

/// Returns the address of the running server of a cell's variant.
fn address<'a>(bench: &'a Workbench<'_>, cell: &Cell) -> Option<&'a Address> {
    match bench.servers.get(&cell.variant)? {
        Served::Foreign(endpoint) => Some(&endpoint.address),
        Served::Started(_) => None,
    }
}

/// Returns whether a run failed because its server did not answer in time.
fn is_silent(run: &RunRecord) -> bool {
    matches!(&run.end, RunEnd::Failed { reason, .. } if reason.contains(NO_ANSWER))
}

/// An experiment's plan, its directory, and how its runs are profiled.
#[derive(Clone, Copy)]
struct Planned<'a> {
    manifest: &'a Manifest,
    dir: &'a ExperimentDir,
    profiling: Option<&'a Profiling>,
}

/// What a cell's workers share.
struct Running<'a> {
    bench: &'a Workbench<'a>,
    experiment: &'a Experiment,
    variant: &'a Variant,
    data: &'a RunData,
    cpus: &'a Cpus,
    clock: &'a SteadyClock,
    profiling: Option<&'a Profiling>,
}

/// Runs one cell: in a worker of its own, or in two, of which the first one only loads.
fn run_cell(
    bench: &Workbench<'_>,
    Planned { manifest, dir, profiling }: Planned<'_>,
    cell: &Cell,
    clock: &SteadyClock,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<RunRecord, RunnerError> {
    let experiment = &manifest.plan.experiment;
    let variant = experiment.variant(&cell.variant).expect("a plan's cells name its variants");
    check_disk(bench)?;
    let mut data = bench.data.fresh(&format!("{}.{}", manifest.id, cell.id))?;
    if experiment.has_disk_events() {
        // The server's log is outside of its data.
        let is_server = bench.servers.contains_key(&variant.name);
        let dir = if is_server { data.path.join(server::DATA) } else { data.path.clone() };
        data.disk = Some(simulated_disk::mount(&dir)?);
    }
    let cpus = Cpus::of(experiment)?;
    let mut order = bench.order(experiment, cell, &data, experiment.steps_for(cell.clients))?;
    let running =
        Running { bench, experiment, variant, data: &data, cpus: &cpus, clock, profiling };
    let mut record = RunRecord::begun(&manifest.id, cell, variant.clone(), now_utc());
    record.machine = bench.machine.clone().map(Box::new);
    let before = bench.drive.and_then(|read| read());
    record.drive = before.map(|before| Box::new(DriveSpan { before, after: None }));
    let writer = dir.begin_run(&cell.id)?;
    writer.write_record(&record)?;
    let run = Supervised { record, writer, immutable: Vec::new() };
    let Some(load) = RunLoad::of(bench, manifest, cell) else {
        return Ok(running.work(order, run, progress)?.record);
    };
    let (end, steps) = (order.range.1, load.steps());
    order.shared = Some((steps, load.key.seed));
    progress(Progress::Begins("for a saved database to be found and restored"));
    let mut run = match load.restore(&running.data.path, run, progress) {
        Ok(run) => run,
        Err(run) => {
            let loading = Order { range: (0, steps), ..order.clone() };
            let loaded = running.work(loading, run, progress)?;
            if loaded.record.end != RunEnd::Running {
                return Ok(loaded.record);
            }
            progress(Progress::Begins("for the loaded database to be saved"));
            load.save(&running.data.path, loaded, progress)
        }
    };
    if run.record.end != RunEnd::Running {
        run.record.ended_at = Some(now_utc());
        run.writer.finish(&run.record)?;
        progress(Progress::RunEnds(&run.record));
        return Ok(run.record);
    }
    run.writer.write_record(&run.record)?;
    order.range = (steps, end);
    Ok(running.work(order, run, progress)?.record)
}

impl<'a> Running<'a> {
    /// Executes an order in a worker, and in a server where the variant has one.
    fn work(
        &self,
        mut order: Order,
        run: Supervised,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Supervised, RunnerError> {
        let &Self { bench, experiment, variant, data, cpus, clock, .. } = self;
        let steps = order.steps.clone();
        if let Some(text) = Host::start_of(bench, variant) {
            progress(Progress::Begins(&text));
        }
        let host = match Host::open(bench, experiment, variant, data, cpus) {
            Ok(host) => host,
            Err(RunnerError::Server(error)) => {
                let run = without_server(bench, run, data, error)?;
                progress(Progress::RunEnds(&run.record));
                return Ok(run);
            }
            Err(error) => return Err(error),
        };
        order.server = host.server(experiment, Vec::new());
        let mut workers = self.workers(&order, host.own_network())?;
        // The cap is on the server and its page cache, when there is one.
        let limit = experiment.memory_bytes.filter(|_| matches!(host, Host::Worker));
        let pid = workers.pid().unwrap_or_else(std::process::id);
        let memory = MemoryWatch::begin(limit, pid)?;
        let samplers = samplers(workers.pid(), &memory, data, &host);
        let range = (order.range.0 as usize, order.range.1 as usize);
        let profiler = self.profiler(pid, &host, &order.cell)?;
        workers.send(&Command::Run(Box::new(order)));
        let facts = host.facts(bench).into_iter().chain(cpus.fact(experiment.placement));
        let facts = facts.chain(host.confinement_fact(bench)).collect();
        let roles = steps.iter().map(|step| step.role(experiment.application.as_ref())).collect();
        let first = steps.get(range.0).expect("a plan's cells have steps").clone();
        let accumulator = StepAccumulator::open(clock, samplers, first, experiment.placement);
        let watch = Watch::begin(host.phase(), clock.now());
        let supervisor = Supervisor {
            bench,
            workers,
            host,
            facts,
            data,
            memory,
            profiler,
            clock,
            writer: run.writer,
            record: run.record,
            accumulator,
            watch,
            steps,
            roles,
            range,
            immutable: None,
            engine_files: Vec::new(),
            end: None,
            server_events: ServerEvents::default(),
            is_closed: false,
            is_torn: false,
        };
        Ok(supervisor.run(progress)?)
    }

    /// Starts the worker of an order, or its workers on client hosts.
    fn workers(
        &self,
        order: &Order,
        network: Option<&Network>,
    ) -> Result<Workers<'a>, RunnerError> {
        let Some(hosts) = self.bench.clients else {
            return Ok(Workers::Here(Box::new(self.bench.start(order, self.cpus, network)?)));
        };
        let group = WorkerGroup::start(hosts, self.experiment, order.cell.clients, self.clock);
        let group = group.map_err(|source| RunnerError::Spawn("client hosts".into(), source))?;
        Ok(Workers::Elsewhere(Box::new(group)))
    }

    /// Starts the profiler of a run, while the worker has one thread.
    fn profiler(
        &self,
        pid: u32,
        host: &Host,
        cell: &Cell,
    ) -> Result<Option<RunProfiler>, RunnerError> {
        let Some(profiling) = self.profiling else { return Ok(None) };
        let files =
            self.bench.data.fresh(&format!("profile-{}.{}", std::process::id(), cell.id))?;
        Ok(Some(RunProfiler::start(profiling, pid, host, files)))
    }
}

/// Returns the samplers of a run.
pub(super) fn samplers(
    pid: Option<u32>,
    memory: &MemoryWatch,
    data: &RunData,
    host: &Host,
) -> Vec<sampler::Sampler> {
    let own = || (data.path.clone(), Some(Arc::new(is_log) as IsLog));
    let (data_dir, is_log) = host.data().unwrap_or_else(own);
    sampler::for_run(&sampler::RunTargets {
        pid,
        data_dir,
        cgroup: memory.own_group(),
        is_log,
        server: host.sampled(),
        foreign: host.foreign(),
        network: host.network(),
    })
}

/// Archives the record of a run whose server did not start.
fn without_server(
    bench: &Workbench<'_>,
    mut run: Supervised,
    data: &RunData,
    error: ServerError,
) -> Result<Supervised, RunnerError> {
    let log = data.path.join(server::LOG);
    let stored = match run.writer.keep_engine_file(&data.path, &log, "") {
        Err(error) if error.is_absence() => Ok(()),
        stored => stored,
    };
    let not_stored = stored.err().map(|error| format!("; its log is not stored: {error}"));
    let step = "open".to_owned();
    let reason = EngineError::from(error).to_string() + &not_stored.unwrap_or_default();
    run.record.end = bench.interrupt.end(RunEnd::Failed { step, reason });
    run.record.ended_at = Some(now_utc());
    run.writer.finish(&run.record)?;
    Ok(run)
}
