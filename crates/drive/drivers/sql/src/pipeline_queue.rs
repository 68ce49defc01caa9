//! Pipelined statements of a client: sent and not yet answered.

use std::collections::VecDeque;

use engine::EngineError;

/// Statements in flight, oldest first; those of a lost connection fail.
///
/// `F` describes how an answer is read. No allocation once the queue has been at its longest.
#[derive(Debug)]
pub(crate) struct PipelineQueue<F> {
    in_flight: VecDeque<F>,
    lost: usize,
}

impl<F> Default for PipelineQueue<F> {
    fn default() -> Self {
        Self { in_flight: VecDeque::new(), lost: 0 }
    }
}

impl<F> PipelineQueue<F> {
    /// Appends a statement.
    #[inline]
    pub(crate) fn push(&mut self, statement: F) {
        self.in_flight.push_back(statement);
    }

    /// Removes the oldest, whose answer comes next.
    ///
    /// # Errors
    /// When it was lost with its connection, or nothing is in flight.
    #[inline]
    pub(crate) fn oldest(&mut self) -> Result<F, EngineError> {
        if self.lost > 0 {
            self.lost -= 1;
            return Err(EngineError::Timeout("lost with its connection".to_owned()));
        }
        let none = || EngineError::Fatal("no statement is in flight".to_owned());
        self.in_flight.pop_front().ok_or_else(none)
    }

    /// Marks every statement in flight as lost with its connection.
    pub(crate) fn lose_all(&mut self) {
        self.lost += self.in_flight.len();
        self.in_flight.clear();
    }

    /// Returns whether the oldest was lost: no answer will come.
    #[inline]
    pub(crate) const fn has_lost(&self) -> bool {
        self.lost > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_in_flight_at_a_disconnect_fail_before_later_ones() {
        let mut queue = PipelineQueue::default();
        queue.push('a');
        queue.push('b');
        assert_eq!(queue.oldest().unwrap(), 'a');
        queue.lose_all();
        queue.push('c');
        assert!(queue.has_lost());
        assert!(matches!(queue.oldest(), Err(EngineError::Timeout(_))));
        assert!(!queue.has_lost());
        assert_eq!(queue.oldest().unwrap(), 'c');
        assert!(matches!(queue.oldest(), Err(EngineError::Fatal(_))));
    }
}
