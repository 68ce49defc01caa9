//! Runs a plan's cells one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use archive::{ExperimentDir, RunWriter};
use load::SteadyClock;
use model::record::SCHEMA;
use model::validity::ProbeRecord;
use model::{
    Bytes, Cell, Experiment, IntervalRecord, Load, Manifest, Nanos, RunEnd, RunRecord, Step,
    StepRecord,
};
use sampler::IsLog;
use server::ServerError;

use crate::data::{DataRoot, RunData};
use crate::error::RunnerError;
use crate::hosting::{self, Host, Hosting, NoHost, Served};
use crate::memory::MemoryWatch;
use crate::message::{Command, Library, Order, ProbeBegins};
use crate::placement::Cpus;
use crate::process::{Process, WorkerProgram};
use crate::stamp::now_utc;
use crate::supervise::{Start, Supervisor};

/// How often Ctrl-C, disk floor and watchdog are checked.
pub(crate) const WATCH_EVERY: Duration = Duration::from_millis(100);

/// Suffixes of the names of write-ahead logs, of all engines.
const LOG_SUFFIXES: &[&str] = &[".log", "-wal", "-journal", ".jnl"];

/// Returns whether a file is a write-ahead log, by its name.
fn is_log(path: &std::path::Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    LOG_SUFFIXES.iter().any(|suffix| name.ends_with(suffix.as_bytes()))
}

/// Counts the user's stop requests.
///
/// One stops after the operations in flight, the second at once.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicU32>);

impl Interrupt {
    /// Notes one more request to stop.
    pub fn raise(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of requests.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Inputs shared by the runs of an experiment.
#[derive(Debug)]
pub struct Workbench<'a> {
    /// The worker program.
    pub program: WorkerProgram,
    /// The root of data directories.
    pub data: &'a DataRoot,
    /// Libraries loaded at run time, and programs of servers, by variant name.
    pub libraries: BTreeMap<String, Library>,
    /// How variants' servers are provided, by variant name.
    pub servers: BTreeMap<String, Served>,
    /// Name of the user that servers run as; see [`server::User::find`].
    pub server_user: Option<String>,
    /// The libraries of allocators.
    pub allocators: malloc::Libraries,
    /// Longest time without an operation ending.
    pub watchdog: Nanos,
    /// Free space below which a run is stopped.
    pub disk_floor: Bytes,
    /// The user's stop requests.
    pub interrupt: Interrupt,
}

/// Progress events, for display.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A run begins.
    RunBegins {
        /// Its position among the runs to do, 1-based.
        number: usize,
        /// Runs to do.
        total: usize,
        /// The cell.
        cell: &'a Cell,
    },
    /// A step begins.
    StepBegins {
        /// The step.
        step: &'a Step,
    },
    /// A stage of a settle begins.
    Stage {
        /// The step.
        step: &'a Step,
        /// The stage.
        stage: &'a str,
    },
    /// An interval is over.
    Second {
        /// The step.
        step: &'a Step,
        /// The probe it belongs to, in a search.
        probe: Option<ProbeBegins>,
        /// The interval.
        interval: &'a IntervalRecord,
    },
    /// A probe of a search is over.
    ProbeEnds {
        /// The step.
        step: &'a Step,
        /// The probe's record.
        probe: &'a ProbeRecord,
    },
    /// A step is over.
    StepEnds {
        /// The step's record.
        step: &'a StepRecord,
        /// The run so far.
        run: &'a RunRecord,
    },
    /// A run is over.
    RunEnds {
        /// Its record.
        run: &'a RunRecord,
    },
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
    let mut order = order(bench, experiment, cell, &data, steps.clone())?;
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
        started_at: now_utc(),
        ended_at: None,
        steps: Vec::new(),
        end: RunEnd::Running,
    };
    let writer = dir.begin_run(&cell.id)?;
    let host = match Host::open(&Hosting { bench, experiment, variant, data: &data, cpus: &cpus }) {
        Ok(host) => host,
        Err(NoHost::Cap(error)) => return Err(error),
        Err(NoHost::Server(error)) => {
            let run = without_server(&writer, record, &data, error)?;
            progress(Progress::RunEnds { run: &run });
            return Ok(run);
        }
    };
    order.endpoint = host.endpoint();
    let mut process = start(bench, &order, &cpus)?;
    // The cap is on the server and its page cache, when there is one.
    let limit = experiment.memory_bytes.filter(|_| matches!(host, Host::Worker));
    let memory = MemoryWatch::begin(limit, &process)?;
    let samplers = samplers(&process, &memory, &data, &host);
    process.send(&Command::Run(Box::new(order)));
    let facts = facts(&host, &cpus, experiment);
    let placement = experiment.placement;
    let start = Start {
        bench,
        process,
        host,
        facts,
        placement,
        data,
        memory,
        clock,
        writer,
        record,
        samplers,
        steps,
    };
    Ok(Supervisor::new(start).run(progress)?)
}

/// Returns facts about the host of a run's engine.
pub(crate) fn facts(host: &Host, cpus: &Cpus, experiment: &Experiment) -> BTreeMap<String, String> {
    host.facts().into_iter().chain(cpus.fact(experiment.placement)).collect()
}

/// Returns the samplers of a run.
fn samplers(
    process: &Process,
    memory: &MemoryWatch,
    data: &RunData,
    host: &Host,
) -> Vec<Box<dyn sampler::Sampler>> {
    let is_log: IsLog = Arc::new(is_log);
    let (data_dir, is_log) = host.data().unwrap_or_else(|| (data.path.clone(), is_log));
    sampler::for_run(&sampler::RunTargets {
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
    if log.is_file() {
        writer.keep_engine_file(&log)?;
    }
    let step = "open".to_owned();
    record.end = if matches!(error, ServerError::Interrupted) {
        RunEnd::Interrupted { step }
    } else {
        let reason = match hosting::refusal(error) {
            (Some(option), reason) => format!("option `{option}`: {reason}"),
            (None, reason) => reason,
        };
        RunEnd::Failed { step, reason }
    };
    record.ended_at = Some(now_utc());
    writer.write_record(&record)?;
    Ok(record)
}

/// Checks the free space of the disk.
pub(crate) fn check_disk(bench: &Workbench<'_>) -> Result<(), RunnerError> {
    let free = bench.data.free()?;
    if free < bench.disk_floor {
        let path = bench.data.path().to_path_buf();
        return Err(RunnerError::DiskFloor { path, free, floor: bench.disk_floor });
    }
    Ok(())
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

pub(crate) fn order(
    bench: &Workbench<'_>,
    experiment: &Experiment,
    cell: &Cell,
    data: &RunData,
    steps: Vec<Step>,
) -> Result<Order, RunnerError> {
    let variant = experiment.variant(&cell.variant).expect("a plan's cells name its variants");
    let allocator = bench.allocators.find(variant.settings.allocator);
    let allocator = allocator.map_err(|error| RunnerError::Allocator {
        variant: variant.name.clone(),
        message: error.to_string(),
        remedy: error.remedy(),
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
