//! Whether the client, and not the engine, was late: the judgement of each interval.
//!
//! Thresholds, with their reasons, stand at the top of `judge`; the evidence is `evidence`'s.

mod judge;

pub(crate) use judge::{Judge, Judgement, lag_allowed};
