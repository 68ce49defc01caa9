//! Where the level of a history changed: change points, drifts, spikes and the noise about them.
//!
//! Not a test of two samples (see [`crate::effect`]) and not a course of one run: a history has one
//! value per run, build or commit, in their order. [`find`] is a pure function of the values. It
//! keeps nothing between calls, so a history read point by point and one read at once cannot
//! disagree.
//!
//! The steps: values become logarithms (if all are positive); one-point spikes are clipped; an
//! exact penalised segmentation finds the levels, with a penalty that knows the noise and its
//! autocorrelation; what does not stand out from the noise at its own boundary is taken back; a
//! ramp is told as a drift and not as a staircase. Histories of fewer than [`SHORT`] values are
//! split one by one instead.
//!
//! Known misses, by design: a change seen by one point only is a suspect, not a change; a level
//! held for fewer than three points within a long history is clipped as a spike; a ramp over fewer
//! than ten points is told as a step; two opposite changes within a few points of each other may
//! hide each other.

mod detectable;
mod drift;
mod find;
mod level;
mod prune;
mod robust;
mod series;
mod short;
mod spread;
mod tail;

pub use detectable::Detectable;
pub use find::{Options, STRICTNESS, find};
pub use series::{Change, Confidence, Drift, NoiseChange, Piece, Scale, Series, Suspect};
pub use short::SHORT;
