//! Runs cells: one supervised worker process per run, sampled and archived.
//!
//! Plans come from `plan`, statistics from `analysis`. The parent (`supervisor`) and the child
//! (`worker`) exchange the messages of `message` over stdin and stdout. The child runs loads
//! (`worker::trial`) and searches (`worker::probing`); the parent accumulates the current step
//! (`supervisor::accumulator`) and classifies intervals from the client's and the host's accounts
//! (`validity`).
//!
//! Invariants: a crash of the engine is a recorded outcome, never the end of the experiment;
//! measurements are in the archive within a second; a data directory without our marker is never
//! touched; an interval is invalid only when the client was late, or delayed, for a reason outside
//! the engine.

mod account;
mod accumulator;
mod audit;
mod counted;
mod data;
mod demand;
mod error;
mod evidence;
mod experiment;
mod hosting;
mod load_status;
mod memory;
mod message;
mod pending_work;
mod placement;
mod preflight;
mod probing;
mod process;
mod row_count_check;
#[cfg(test)]
mod scripted;
mod settle;
mod smoke_test;
mod span;
mod stamp;
mod supervise;
mod tally;
mod time_profile;
#[cfg(test)]
mod toy;
mod trial;
mod validity;
mod warmup_trim;
mod warning;
mod watch;
mod worker;

pub use data::{DataRoot, free_space};
pub use error::RunnerError;
pub use experiment::{Interrupt, Progress, Workbench, run_cells};
pub use hosting::Served;
pub use message::{Library, ProbeBegins};
pub use preflight::check_variants;
pub use process::WorkerProgram;
pub use smoke_test::{serve_smoke_test, smoke_test};
pub use stamp::{now_utc, stamp_id, wall_time};
pub use warmup_trim::trim_warmup;
pub use worker::{Registry, work};
