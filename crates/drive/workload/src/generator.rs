//! The interface between the load loop and a workload.

use std::any::Any;

use engine::Rows;
use model::Op;

/// Which of a step's client groups a generator belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The measured clients.
    Clients,
    /// The background writers.
    Writers,
}

/// An answer that cannot be right: a fault of engine or driver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("wrong answer to {operation}: {reason}")]
pub struct WrongAnswer {
    /// The operation, with its key.
    pub operation: String,
    /// What was expected and what came.
    pub reason: String,
}

/// One client's stream of operations, a function of (seed, client, n) alone.
///
/// `Any`, so that the load loop can be compiled for the types that matter.
pub trait Generator: Any + Send {
    /// Returns the next operation, borrowed from the generator; `None` at its end.
    ///
    /// On the hot path: no allocation, no lock, no clock.
    fn next(&mut self) -> Option<Op<'_>>;

    /// Returns how many operations come before one whose answer is checked.
    ///
    /// Counted from the next one; `u64::MAX` when there is none. Called at the start and after each
    /// checked operation: a count is cheaper than a call per operation.
    fn unchecked(&self) -> u64;

    /// Checks the answer to the last operation; returns how many values were verified.
    ///
    /// Called after `ended` is stamped, so its cost is outside the operation.
    ///
    /// # Errors
    /// When the answer cannot be right.
    fn check(&mut self, rows: &Rows) -> Result<u64, WrongAnswer>;

    /// Notes that no operation follows, so that no other generator waits for this one.
    ///
    /// Called however the client ends.
    fn end(&mut self) {}
}

/// A step that cannot be executed; each text names the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// There is no step of that name; with the known ones.
    #[error("unknown step `{0}`; steps: {1}")]
    UnknownStep(String, String),
    /// A setting of a step cannot be executed; with what may be written instead.
    #[error("step `{0}`: {1}")]
    Step(String, String),
}
