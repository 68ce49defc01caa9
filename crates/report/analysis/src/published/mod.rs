//! What others published, held against what was found here.
//!
//! Not another comparison: an effect comes from [`stats::classify_difference()`] with the noise that is known of
//! the metric, as every effect here does, for whichever two variants a finding names. The findings
//! are a family of their own: they were stated before anything was run.

mod held;
mod hold;
mod reproduction;
#[cfg(test)]
mod tests;

pub use held::{Held, HeldFinding, Here, Unmeasured};
pub(crate) use hold::hold;
pub use hold::untried;
pub use reproduction::{Reproduction, holds, reproduction};
