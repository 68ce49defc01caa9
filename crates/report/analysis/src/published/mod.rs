//! Checks of published findings against these runs.
//!
//! An effect comes from [`stats::classify_difference()`] with the metric's prior noise, as every
//! effect here does, for the two variants that a finding names. The findings are a family of their
//! own: they were stated before anything was run.

mod finding;
mod held;
mod reproduction;
#[cfg(test)]
mod tests;

pub use finding::{Held, HeldFinding, Here, Unmeasured};
pub(crate) use held::check;
pub use held::untried;
pub use reproduction::{Reproduction, reproduction};
