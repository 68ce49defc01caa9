//! Pipelined statements of a client: sent and not yet answered.

use std::collections::VecDeque;

use engine::EngineError;

/// Statements in flight, oldest first; `None` was lost with its connection.
///
/// `F` describes how an answer is read. No allocation once the queue has been at its longest.
#[derive(Debug)]
pub(crate) struct PipelineQueue<F>(VecDeque<Option<F>>);

impl<F> Default for PipelineQueue<F> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<F> PipelineQueue<F> {
    #[inline]
    pub(crate) fn push(&mut self, statement: F) {
        self.0.push_back(Some(statement));
    }

    /// Removes the oldest, whose answer comes next; fails when it was lost or there is none.
    #[inline]
    pub(crate) fn oldest(&mut self) -> Result<F, EngineError> {
        let oldest = self.0.pop_front();
        let oldest =
            oldest.ok_or_else(|| EngineError::Fatal("no statement is in flight".to_owned()))?;
        oldest.ok_or_else(|| EngineError::LostConnection("lost with its connection".to_owned()))
    }

    /// Marks every statement in flight as lost with its connection.
    pub(crate) fn lose_all(&mut self) {
        self.0.iter_mut().for_each(|statement| *statement = None);
    }

    /// Returns whether nothing is in flight.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the oldest was lost: no answer will come.
    #[inline]
    pub(crate) fn has_lost(&self) -> bool {
        matches!(self.0.front(), Some(None))
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
        assert!(matches!(queue.oldest(), Err(EngineError::LostConnection(_))));
        assert!(!queue.has_lost());
        assert_eq!(queue.oldest().unwrap(), 'c');
        assert!(matches!(queue.oldest(), Err(EngineError::Fatal(_))));
    }
}
