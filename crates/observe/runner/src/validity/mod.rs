//! Interval validity: was a client late for a reason outside the engine?
//!
//! Thresholds, with their reasons, stand at the top of `classify`; `load_status` decides whether an
//! open loop was sustained.

pub(crate) mod classify;
pub(crate) mod evidence;
pub(crate) mod load_status;
