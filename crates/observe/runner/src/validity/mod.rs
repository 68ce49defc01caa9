//! Interval validity: was a client late for a reason outside the engine?
//!
//! Thresholds, with their reasons, stand at the top of `classify`.

pub(crate) mod classify;
pub(crate) mod evidence;
