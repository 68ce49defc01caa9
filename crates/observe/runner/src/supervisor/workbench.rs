//! Shared inputs of an experiment's runs, stop requests, progress events.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use child::Confinement;
use model::validity::ProbeRecord;
use model::{
    Bytes, Cell, DriveHealth, Endpoint, Experiment, IntervalRecord, Machine, Nanos, OpKind, RunEnd,
    RunRecord, Step, StepRecord,
};
use profiler::Profiler;
use server::{Kind, Network};

use super::data::{DataRoot, RunData, check_room};
use super::placement::Cpus;
use super::process::{Process, WorkerProgram};
use crate::error::RunnerError;
use crate::message::{Library, Order, ProbeBegins};
use crate::needs::{Needs, allocator_refusal};

/// How often Ctrl-C, disk floor and watchdog are checked.
pub(crate) const WATCH_EVERY: Duration = Duration::from_millis(100);

/// Counts the user's stop requests.
///
/// One stops after the operations in flight, the second at once.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    requests: Arc<AtomicU32>,
    is_last_run: Arc<AtomicBool>,
}

impl Interrupt {
    /// Notes one more request to stop.
    pub fn raise(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Lets the run in hand be the last one.
    pub fn end_after_run(&self) {
        self.is_last_run.store(true, Ordering::Relaxed);
    }

    /// Returns whether no run may follow.
    pub fn forbids_runs(&self) -> bool {
        self.level() > 0 || self.is_last_run.load(Ordering::Relaxed)
    }

    /// Returns the number of requests.
    pub fn level(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Returns the end of a run: a failure after a request to stop is an interruption.
    ///
    /// Programs that the user's signal reached too, and waits that it ends, fail in many ways.
    pub(crate) fn end(&self, end: RunEnd) -> RunEnd {
        let (RunEnd::Failed { step, .. }
        | RunEnd::Crashed { step, .. }
        | RunEnd::LostHost { step, .. }
        | RunEnd::Hung { step, .. }) = &end
        else {
            return end;
        };
        if self.level() > 0 { RunEnd::Interrupted { step: step.clone() } } else { end }
    }
}

/// Inputs shared by the runs of an experiment.
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
    /// Most space that snapshots of loaded databases take; by default half of what is free.
    pub snapshot_limit: Option<Bytes>,
    /// How CPU profiles are sampled, as measured before a new experiment is archived.
    pub profiler: Option<Profiler>,
    /// Reads the health of the drive below the data directory, before and after each run.
    pub drive: Option<&'a (dyn Fn() -> Option<DriveHealth> + Sync)>,
    /// This machine, if it is one of a fleet: each record names it.
    pub machine: Option<Machine>,
    /// The only repetition to run, if this machine runs one block.
    pub block: Option<u32>,
    /// Machines on which the clients run; `None` for this machine.
    pub clients: Option<&'a dyn ClientHosts>,
    /// Confines the engines of a stranger's experiment; `None` for one of this account.
    pub confinement: Option<Confinement>,
    /// The user's stop requests.
    pub interrupt: Interrupt,
}

/// Input of a worker on a client host. Each call of `write` has one whole line.
pub type WorkerInput = Box<dyn io::Write + Send>;
/// Takes the lines of a worker, or parts of long ones, and `None` at the end.
///
/// A function in place of a pipe: each line wakes one thread less of the measured host.
pub type WorkerOutput = Box<dyn FnMut(Option<&str>) + Send>;

/// Starts workers on the client hosts of an experiment.
pub trait ClientHosts: Sync {
    /// Starts a worker on a client host; returns its input.
    ///
    /// `host` is the position in the experiment's list. The worker ends when its input is dropped,
    /// and its output ends in either case.
    ///
    /// # Errors
    /// When the worker cannot be requested.
    fn start(&self, host: usize, output: WorkerOutput) -> io::Result<WorkerInput>;

    /// Returns why the connection to a host's last worker ended: the last line of its log.
    fn reason(&self, host: usize) -> Option<String>;

    /// Returns the address at which the clients reach a server of this machine.
    fn address(&self) -> &str;
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
    StepBegins(&'a Step),
    /// What may take long outside of steps begins: what is waited for, and how long at most.
    Begins(&'a str),
    /// The clients of a step run.
    Runs(&'a Step),
    /// A stage of this name, of a step's settle, begins.
    Stage(&'a Step, &'a str),
    /// An interval of a step is over; with the probe it belongs to, in a search.
    Second(&'a Step, Option<ProbeBegins>, &'a IntervalRecord),
    /// A probe of a step's search is over.
    ProbeEnds(&'a Step, &'a ProbeRecord),
    /// A step is over.
    StepEnds(&'a StepRecord),
    /// A run is over.
    RunEnds(&'a RunRecord),
    /// Something about the loaded database that runs share.
    Snapshot(&'a str),
    /// An engine waits outside of measured spans: for what.
    Waits(&'a str),
    /// Something notable about a variant, before its first run.
    Note(&'a str),
}

/// How a variant's server is provided.
#[derive(Clone)]
pub enum Served {
    /// Assay starts the variant's program for each run.
    Started(&'static dyn Kind),
    /// It runs already.
    Foreign(Box<Endpoint>),
}

impl Workbench<'_> {
    /// Starts the worker of an order, with its allocator preloaded, on its CPUs and in its network.
    pub(crate) fn start(
        &self,
        order: &Order,
        cpus: &Cpus,
        network: Option<&Network>,
    ) -> Result<Process, RunnerError> {
        let preload = order.allocator.as_ref().map(|library| self.allocators.preload(library));
        // A worker that only talks to a server loads no library.
        let confinement = self.confinement(&order.variant.name, &order.dir);
        let confinement = confinement.filter(|_| order.server.is_none());
        let confinement =
            confinement.map(|it| it.reading(order.allocator.clone()).of_library(true));
        let preload = preload.as_deref();
        let mut prefix = cpus.worker_args();
        prefix.extend(network.into_iter().flat_map(Network::clients_args));
        Process::start(&self.program, self.data.path(), preload, &prefix, confinement.as_ref())
    }

    /// Returns the files that the engine of a variant may reach, with its data in `dir`; `None`
    /// where nothing confines it.
    pub(crate) fn confinement(&self, variant: &str, dir: &Path) -> Option<Confinement> {
        let places = self.libraries.get(variant).map(|library| library.places.clone());
        let places = places.unwrap_or_default();
        Some(self.confinement.clone()?.reading(places).writing([dir.to_owned()]))
    }

    /// Builds the order of a cell, with the steps to execute.
    pub(crate) fn order(
        &self,
        experiment: &Experiment,
        cell: &Cell,
        data: &RunData,
        steps: Vec<Step>,
    ) -> Result<Order, RunnerError> {
        let variant = experiment.variant(&cell.variant).expect("a plan's cells name its variants");
        let allocator = self.allocators.find(variant.settings.allocator).map_err(|error| {
            RunnerError::Refused(variant.name.clone(), allocator_refusal(&error))
        })?;
        Ok(Order {
            cell: cell.clone(),
            variant: variant.clone(),
            data: experiment.data,
            server: None,
            range: (0, u32::try_from(steps.len()).unwrap_or(u32::MAX)),
            shared: None,
            watchdog: self.watchdog,
            needs: Needs::of(experiment),
            kinds: kinds(&experiment.steps),
            library: self.libraries.get(&variant.name).cloned(),
            dir: data.path.clone(),
            allocator,
            member: None,
            steps,
        })
    }
}

/// Returns the kinds of operation of key-value steps, each with the first step that has it.
fn kinds(steps: &[Step]) -> BTreeMap<OpKind, String> {
    let mut kinds = BTreeMap::new();
    for step in steps {
        for info in workload::catalog().into_iter().filter(|info| info.name == step.name) {
            for kind in info.needs {
                kinds.entry(kind).or_insert_with(|| step.name.clone());
            }
        }
    }
    kinds
}

/// Checks the free space of the disk.
pub(crate) fn check_disk(bench: &Workbench<'_>) -> Result<(), RunnerError> {
    check_room(bench.data.path(), bench.disk_floor)
}
