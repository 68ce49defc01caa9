//! Checks of published findings against these runs.
//!
//! An effect comes from [`stats::classify_difference()`] with the metric's prior noise, as every
//! effect here does, for the two variants that a finding names. The findings are a family of their
//! own: they were stated before anything was run.

mod check;
mod finding;
mod reproduction;
#[cfg(test)]
mod tests;

pub(crate) use check::check;
pub use check::untried;
pub use finding::{Held, HeldFinding, Here, Unmeasured};
pub use reproduction::{Reproduction, reproduction};
