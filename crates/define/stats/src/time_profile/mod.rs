//! Time profile of a step: warm-up, drift, cycles and stalls.
//!
//! All functions are pure; their input is one value a second, invalid seconds left out.
//! `tests/steady` measures the error rates of the classes by simulation.
//!
//! Source: changepoint segments that define a steady state [Barrett 2017].

mod classify;
mod cycle;
mod means;
mod series;
mod slope;
mod stalls;
mod steady;

pub use classify::time_profile;
pub use cycle::cycle;
pub use series::{Second, Series};
pub use slope::{Slope, slope};
pub use stalls::{StallSpan, late_spans, stall_spans};
pub use steady::{MIN_CLASSIFIED_S, MIN_STEADY_S, MIN_STEADY_SHARE};
