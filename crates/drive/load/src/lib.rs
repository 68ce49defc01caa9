//! The load generator: clock, arrival schedule, hot loop and recorder.
//!
//! Operations come from a workload's generator and are executed by an engine's session; files and
//! the validity of intervals belong to the runner, which receives intervals and totals.
//!
//! Invariants: each operation has three stamps, intended <= started <= ended, and nothing but the
//! engine's work lies between the last two; response time is ended - intended, service time is
//! ended - started, both recorded per kind of operation and interval; a failed operation is never
//! counted as done; every operation is in exactly one interval; nothing is allocated per
//! operation, and nothing locked or written to shared memory but to take an arrival, before its
//! stamps; arrivals offered = those served + those censored, over a measured span.
//!
//! To add an arrival process, see [`schedule`]; to measure more per operation, `client`; to report
//! more to the runner, [`Event`]. `cargo bench -p load` measures the loop's cost and start lag, and
//! `make test` tries the client pool's threads in many orders.

pub mod clock;
pub mod schedule;

mod availability;
mod calibrate;
mod client;
mod client_pool;
mod collector;
mod error;
mod handoff;
mod reopening;
mod stop;
#[cfg(not(feature = "model-check"))]
mod sync;
#[cfg(feature = "model-check")]
#[path = "model_check.rs"]
mod sync;
mod tally;
#[cfg(test)]
mod testing;
mod ticks;
mod timeline;
mod traits;
mod usage;
mod write_log;

pub use availability::Outage;
pub use calibrate::{CalibrationRequest, calibrate};
pub use client_pool::{
    AgreeStart, ArrivalTotals, Event, GroupRun, HolderRun, Interval, StepEnd, StepRun, StepTotals,
    run_step,
};
pub use clock::{ManualClock, SteadyClock};
pub use error::LoadError;
pub use reopening::{Faults, OpenAgain, Reopening};
pub use schedule::Share;
pub use stop::StopFlag;
pub use tally::{GroupTally, KindTally, empty_histogram, percentiles};
pub use ticks::{Ticker, Ticks};
pub use traits::Clock;
pub use usage::{process_readings, thread_run_queue};
pub use write_log::WriteLog;
