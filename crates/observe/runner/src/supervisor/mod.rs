//! The parent process: starts, samples and archives one worker per run.
//!
//! `experiment` runs a plan's cells, `run_load` shares the databases they load, `supervise` watches
//! one worker and `finish` ends it, and `accumulator` turns its messages into records.

mod accumulator;
mod attribution;
pub(crate) mod data;
mod descendants;
mod execute_events;
mod experiment;
mod file_sync;
mod finish;
mod histograms;
pub(crate) mod hosting;
mod lock;
pub(crate) mod memory;
mod output;
pub(crate) mod placement;
pub(crate) mod process;
mod profile_trial;
mod profiling;
mod run_load;
mod server_events;
pub(crate) mod simulated_disk;
mod supervise;
mod wait;
mod warning;
mod watch;
pub(crate) mod workbench;
mod worker_group;
mod workers;

pub use data::{DataRoot, RunData, check_room, free_space};
pub use experiment::run_cells;
pub use process::WorkerProgram;
pub use profile_trial::measure_profiler;
pub use workbench::{
    ClientHosts, Interrupt, Progress, Served, Workbench, WorkerInput, WorkerOutput,
};
