//! When operations are sent, and how long they took: clock, schedule, hot loop and recorder.
//!
//! Not what is asked (a workload's generator decides) and not what is done (a session does); it
//! keeps no file and judges no result. It stands between `workload`, whose operations it takes,
//! and the runner, to which it hands intervals and totals.
//!
//! Invariants: each operation has three stamps, intended <= started <= ended, and nothing but the
//! engine's work lies between the last two; response time is ended - intended, service time is
//! ended - started, both kept per kind of operation and interval; a failed operation is never
//! counted as done; every operation is in exactly one interval; nothing is allocated per
//! operation, and nothing locked or written to shared memory but to take an arrival, before its
//! stamps; arrivals offered = those served + those censored, over a measured span.
//!
//! To add an arrival process, see [`schedule`]; to measure more per operation, `client`; to tell
//! the runner more, [`Event`]. `cargo bench -p load` shows what the loop costs and how late it
//! starts, and `cargo test -p load --features model-check` tries the crew's threads in many
//! orders.

pub mod clock;
pub mod schedule;

mod calibrate;
mod client;
mod crew;
mod error;
mod handoff;
mod stop;
mod sync;
mod tally;
#[cfg(test)]
mod testing;
mod timeline;
mod traits;
mod usage;

pub use calibrate::{CalibrationRequest, calibrate};
pub use clock::{ClockCheck, ManualClock, SteadyClock};
pub use crew::{ArrivalTotals, Event, GroupRun, Interval, StepEnd, StepRun, StepTotals, run_step};
pub use error::LoadError;
pub use stop::StopFlag;
pub use tally::{GroupTally, KindTally, empty_histogram, percentiles};
pub use traits::{Clock, Ticks};
pub use usage::process_readings;
