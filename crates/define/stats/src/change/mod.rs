//! Changepoints of a history: level changes, drifts, spikes and noise.
//!
//! A history has one value per run, build or commit, in order; two samples are compared by
//! [`crate::effect_test`], one run by [`crate::time_profile`]. [`find`] is a pure function of the
//! values without state, so reading point by point and reading at once give the same result.
//!
//! The steps: values become logarithms (if all are positive); one-point spikes are clipped; an
//! exact penalised segmentation finds the levels, with a penalty for the noise and its
//! autocorrelation; a ramp becomes one drift instead of a staircase; each level is fitted to its
//! own values without spikes; boundaries that are not significant against the local noise are
//! removed. Histories of fewer than [`SHORT`] values are split one by one instead.
//!
//! Known limits, by design: a change with one point is a suspect, not a change; a level of fewer
//! than three points within a long history is clipped as a spike; a ramp over fewer than a tenth of
//! the points (10 at least, 30 at most) is a step; two opposite changes within a few points of each
//! other may mask each other.

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

pub use find::{STRICTNESS, find};
pub use series::{
    Change, Confidence, Detectable, Drift, NoiseChange, Piece, Scale, Series, Suspect,
};
pub use short::SHORT;
