//! What machine time buys: repetitions and lengths from the noise that is known.
//!
//! Every run costs what comes before and after its measured spans too, and a longer span does
//! nothing about what differs from run to run. So there is a best way to spend a budget, and it is
//! seldom three long runs.
//!
//! Source: the project's reference, analysis, section 2.

mod design;
#[cfg(test)]
mod injected;
mod pilot;
#[cfg(test)]
mod tests;
mod two_stage;

pub use design::{Budget, Design, Expected, Length, Proposal, TooSmall};
pub use pilot::{Origin, StepNoise, noise};
pub use two_stage::{Piloted, piloted};
