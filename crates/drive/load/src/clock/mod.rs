//! Clocks: the only place of the program that reads monotonic time.
//!
//! Calendar time belongs to the runner. A worker uses [`SteadyClock`]; tests that set the time use
//! [`ManualClock`].
//!
//! Invariants: stamps are on the scale of CLOCK_MONOTONIC, so they compare between processes of
//! one host; the fast source is used only when the processor and the kernel both trust it, and is
//! checked against the kernel's clock at the end of each run.

mod counter;
mod ffi_counter;
mod manual;
mod steady;

pub use counter::Counter;
pub use manual::ManualClock;
pub use steady::SteadyClock;
