//! Answers of pipelined operations, executed at submission.

use std::collections::VecDeque;

use model::{Op, Outcome};

use crate::error::EngineError;
use crate::rows::Rows;

/// A pending answer: outcome, rows and bytes.
type Answer = Result<(Outcome, u64, u64), EngineError>;

/// Pending answers, oldest first.
#[derive(Default)]
pub(super) struct Answers(VecDeque<Answer>);

impl Answers {
    /// Executes an operation and stores its answer.
    pub(super) fn execute(
        &mut self,
        op: &Op<'_>,
        execute: impl FnOnce(&Op<'_>, &mut Rows) -> Result<Outcome, EngineError>,
    ) {
        let mut rows = Rows::new();
        let outcome = execute(op, &mut rows);
        self.0.push_back(outcome.map(|outcome| (outcome, rows.count(), rows.bytes())));
    }

    /// Returns whether no answer is pending.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes and returns the oldest.
    pub(super) fn pop(&mut self, rows: &mut Rows) -> Result<Outcome, EngineError> {
        let none = || EngineError::Fatal("faulty: no operation is in flight".to_owned());
        let (outcome, count, bytes) = self.0.pop_front().ok_or_else(none)??;
        rows.wrote(count, bytes);
        Ok(outcome)
    }
}
