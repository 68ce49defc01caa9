//! How throughput scales with clients: sweeps and searches for a number of clients.
//!
//! The rule of thumb on busy threads is checked here with figures; it is not taken for granted.
//! Source: M. Callaghan, "The impact of max_background_jobs" (seed 003): busy threads, which are
//! clients and background threads, should not exceed the CPU cores.

use model::{Host, Limit, RunRecord};
use serde::Serialize;

use crate::stat::Spread;
use crate::usl::{Fit, NoFit};

/// One variant's throughput over numbers of clients, in one step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scaling {
    /// The variant's name.
    pub variant: String,
    /// Position of the step in the run, 0-based.
    pub step_index: u32,
    /// The step's name.
    pub step: String,
    /// Where the levels come from.
    pub origin: Origin,
    /// The limit that goodput is counted by.
    pub limit: Option<Limit>,
    /// CPUs of the host; absent when it is not known.
    pub cpus: Option<u32>,
    /// The levels, by clients ascending; two or more.
    pub levels: Vec<Level>,
    /// The law fitted to throughput.
    pub throughput_fit: Result<Fit, NoFit>,
    /// The law fitted to goodput; absent without a limit.
    pub goodput_fit: Option<Result<Fit, NoFit>>,
    /// The law fitted to the levels that have no more clients than there are CPUs; absent when
    /// these are all levels or the CPUs are not known. A knee at the CPUs is hardware, not
    /// contention.
    pub within_cpus_fit: Option<Result<Fit, NoFit>>,
}

/// Where levels come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The clients factor: each level has runs of its own.
    Factor,
    /// Probes of searches for a number of clients.
    Search,
}

/// One number of clients.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// Clients.
    pub clients: u32,
    /// Throughput of each run, operations per second.
    pub throughputs: Vec<f64>,
    /// Throughput over the runs, operations per second.
    pub throughput: Spread,
    /// Goodput over the runs, operations per second; absent without a limit.
    pub goodput: Option<Spread>,
    /// Threads and CPUs; absent for probes, whose CPU is not recorded apart.
    pub busy: Option<Busy>,
    /// Whether there are more clients than CPUs; absent when the CPUs are not known.
    pub is_beyond_cpus: Option<bool>,
}

/// Threads that want a CPU and the CPUs there are: what the rule of thumb is about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Busy {
    /// Clients and background writers.
    pub client_threads: u32,
    /// Background threads the engine may use; absent when the settings leave it to the engine.
    pub background_threads: Option<u32>,
    /// CPUs the worker process used on average, over the runs.
    pub busy_threads: Option<Spread>,
    /// Share of the clients' time spent ready to run without a CPU, over the runs.
    pub run_queue_share: Option<Spread>,
    /// Whether client and background threads are more than the CPUs; absent when the CPUs are not
    /// known.
    pub is_over_cpus: Option<bool>,
    /// Whether clients did wait for a CPU: a median run-queue share above 5 %; absent when not
    /// known.
    pub is_waiting: Option<bool>,
}

/// Returns how throughput scales, by variant and step, of those measured at two levels or more.
#[must_use]
pub fn scalability(_runs: &[RunRecord], _host: &Host) -> Vec<Scaling> {
    Vec::new()
}
