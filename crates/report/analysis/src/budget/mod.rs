//! Repetitions for a machine time or a precision, from the known noise.
//!
//! Every repetition costs loading, settling and warm-up too, and a longer span does nothing about
//! the variance from run to run; lengths stay as requested, and repetitions are what is planned.
//!
//! Source: [Kalibera Jones 2013]: variance between runs is reduced only by more runs.

mod design;
mod loads;
mod machines;
mod pilot;
#[cfg(test)]
mod tests;
mod two_stage;

pub use design::{Budget, Design, Expected, Proposal, TooSmall};
pub use loads::{Goal, LoadDesign, LoadNoise, load_design, load_noise};
pub use machines::{MachineDeviation, half_width_on, machine_deviation};
pub use pilot::{Origin, StepNoise, noise};
pub use two_stage::{Piloted, piloted};
