//! When operations are due: one file per arrival process.
//!
//! Not pacing: how a client waits until then belongs to the clock. Called by the client loop once
//! per operation, before the operation is executed.
//!
//! Invariants: an intended time is a function of the schedule alone, never of how slow the engine
//! is (the closed loop, which has no schedule, is the exception); nothing is skipped or re-timed.
//!
//! To add an arrival process, see [`crate::Schedule`].

mod closed;
mod constant;

pub use closed::Closed;
pub use constant::Constant;
