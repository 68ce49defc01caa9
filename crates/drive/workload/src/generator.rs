//! What the load loop asks of a workload.

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

/// An answer that cannot be right: a fault of engine or driver, never a fast operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("wrong answer to {operation}: {reason}")]
pub struct WrongAnswer {
    /// The operation, with its key.
    pub operation: String,
    /// What was expected and what came.
    pub reason: String,
}

/// One client's stream of operations; operation n is a function of (seed, client, n) alone.
pub trait Generator: Send {
    /// Returns the next operation, borrowed from the generator's own buffers; `None` at its end.
    ///
    /// On the hot path: no allocation, no lock, no clock.
    fn next(&mut self) -> Option<Op<'_>>;

    /// Returns whether the answer to the operation that [`Generator::next`] returns next is to be
    /// kept and checked.
    ///
    /// Asked before `next`, because the operation then borrows the generator until it is executed.
    fn wants_check(&self) -> bool;

    /// Checks the answer to the operation last returned; returns how many values were verified.
    ///
    /// Called after `ended` is stamped, so its cost is outside the operation.
    ///
    /// # Errors
    /// When the answer cannot be right.
    fn check(&mut self, rows: &Rows) -> Result<u64, WrongAnswer>;
}
