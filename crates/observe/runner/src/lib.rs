//! Runs cells: one supervised worker process per run, sampled and archived.
//!
//! Plans come from `plan`, statistics from `analysis`. The parent (`supervisor`) and the child
//! (`worker`) exchange the messages of `message` over the `connection`. The child runs loads
//! (`worker::trial`) and searches (`worker::probing`); the parent accumulates the current step
//! (`supervisor::accumulator`) and classifies intervals from the client's and the host's accounts
//! (`validity`).
//!
//! Invariants: a crash of the engine is a recorded outcome, never the end of the experiment;
//! measurements are in the archive within a second; a data directory without our marker is never
//! touched; an interval is invalid only when the client was late, or delayed, for a reason outside
//! the engine.

mod account;
mod connection;
mod error;
mod message;
mod needs;
mod preflight;
mod stamp;
mod supervisor;
mod tally;
mod validity;
mod worker;

pub use connection::{
    ConnectionError, MessageReader, MessageWriter, SocketWriter, connect, take_input,
};
pub use error::RunnerError;
pub use message::{Library, ProbeBegins};
pub use preflight::{
    Kinds, Place, check_text, check_variants, host_refusals, serve_library_test, test_library,
};
pub use stamp::{now_utc, stamp_id, time_between, wall_time};
pub use supervisor::{
    ClientHosts, DataRoot, Interrupt, Progress, RunData, Served, Workbench, WorkerInput,
    WorkerOutput, WorkerProgram, check_room, free_space, measure_profiler, run_cells,
};
pub use worker::{Registry, work};
