//! Cells to records: one child process per run, supervised, sampled and archived by its parent.
//!
//! It decides nothing about what is run (that is `plan`) and computes nothing from it (that is
//! `analysis`). The parent half (`supervise`) and the child half ([`work`]) speak the few message
//! types of `message` over stdin and stdout. The child runs loads (`trial`) and searches
//! (`probing`); the parent keeps what is known of the step in hand (`accumulator`) and judges from the
//! client's and the host's accounts which intervals count (`innocence`).
//!
//! Invariants: whatever the engine does to its process is a recorded outcome, never the end of
//! the experiment; what was measured is in the archive within a second; a data directory that is
//! not ours is never touched; an interval is void only when the client was late, or held up, for
//! a reason outside the engine.

mod account;
mod accumulator;
mod audit;
mod books;
mod counted;
mod data;
mod demand;
mod doubt;
mod drain;
mod error;
mod evidence;
mod experiment;
mod hosting;
mod innocence;
mod load_status;
mod memory;
mod message;
mod placement;
mod preflight;
mod probing;
mod process;
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
mod warmup_trim;
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
