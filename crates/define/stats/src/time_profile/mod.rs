//! How a step went over time: where it becomes steady, drifts, cycles and stalls.
//!
//! All functions are pure; their input is one value a second, void seconds left out. The classes
//! and what they are worth are told in `tests/steady`, by simulation.
//!
//! Source: the project's reference, analysis, sections 1.4 and 3; E. Barrett, C. F. Bolz-Tereick,
//! R. Killick, S. Mount and L. Tratt, 2017, "Virtual Machine Warmup Blows Hot and Cold", OOPSLA
//! (segments of equal mean, and what they say of a steady state).

mod classify;
mod cycle;
mod means;
mod mser;
mod series;
mod slope;
mod stalls;
mod steady;

pub use classify::time_profile;
pub use cycle::cycle;
pub use mser::mser5;
pub use series::{Second, Series};
pub use slope::{Slope, slope};
pub use stalls::{StallSpan, stall_spans};
pub use steady::{LEAST_SHARE, MIN_CLASSIFIED_S, MIN_STEADY_S};
