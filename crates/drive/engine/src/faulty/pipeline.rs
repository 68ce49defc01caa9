//! Operations sent ahead: done when they are taken, answered when they are asked for.

use std::collections::VecDeque;

use model::{Op, Outcome};

use crate::error::EngineError;
use crate::rows::Rows;

/// An answer that waits: how the operation ended, and the rows and bytes of it.
type Answer = Result<(Outcome, u64, u64), EngineError>;

/// Answers that nobody has asked for yet, oldest first.
#[derive(Default)]
pub(super) struct Answers(VecDeque<Answer>);

impl Answers {
    /// Executes an operation and keeps its answer.
    pub(super) fn keep(
        &mut self,
        op: &Op<'_>,
        execute: impl FnOnce(&Op<'_>, &mut Rows) -> Result<Outcome, EngineError>,
    ) {
        let mut rows = Rows::new();
        let outcome = execute(op, &mut rows);
        self.0.push_back(outcome.map(|outcome| (outcome, rows.count(), rows.bytes())));
    }

    /// Returns whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells the oldest.
    pub(super) fn tell(&mut self, rows: &mut Rows) -> Result<Outcome, EngineError> {
        let none = || EngineError::Fatal("faulty: no operation is in flight".to_owned());
        let (outcome, count, bytes) = self.0.pop_front().ok_or_else(none)??;
        rows.wrote(count, bytes);
        Ok(outcome)
    }
}
