//! One client: the hot loop and its recorder.
//!
//! A client shares no state with other clients but the arrivals, and after each interval the
//! collector, to which it hands what it counted. It is driven by its generator and its schedule.
//!
//! Invariants: between `started` and `ended` there is nothing but the engine's work; nothing is
//! allocated or written to shared memory per operation; an operation belongs to the
//! interval in which it ended; a failed or wrong operation is never counted as done; an arrival
//! that was taken is served, or handed back at the end. An open loop adds one lock per operation,
//! to take the arrival, before the stamps.
//!
//! To change what is measured per operation, change `execute.rs`, and run the benchmark; a client
//! with several operations in flight has a loop of its own, `pipelined.rs`.

mod drive;
mod execute;
mod meter;
mod pipelined;

pub(crate) use drive::{Drive, Source, Waiting};
pub(crate) use execute::run_scheduled;
pub(crate) use meter::{Meter, Role};
