//! Shared inputs of an experiment's runs, stop requests, progress events.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use model::validity::ProbeRecord;
use model::{Bytes, Cell, Endpoint, IntervalRecord, Nanos, RunRecord, Step, StepRecord};
use server::Kind;

use super::data::DataRoot;
use super::process::WorkerProgram;
use crate::error::RunnerError;
use crate::message::{Library, ProbeBegins};

/// How often Ctrl-C, disk floor and watchdog are checked.
pub(crate) const WATCH_EVERY: Duration = Duration::from_millis(100);

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

/// How a variant's server is provided.
#[derive(Clone)]
pub enum Served {
    /// Assay starts the variant's program for each run.
    Started(&'static dyn Kind),
    /// It runs already.
    Foreign(Endpoint),
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started(kind) => write!(f, "Started({})", kind.engine()),
            Self::Foreign(endpoint) => write!(f, "Foreign({})", endpoint.address),
        }
    }
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
