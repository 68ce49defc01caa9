//! Interval validity: was a client late for a reason outside the engine?
//!
//! Thresholds, with their reasons, stand at the top of `classify`.

mod classify;

pub(crate) use classify::{Classification, IntervalClassifier, lag_allowed};
