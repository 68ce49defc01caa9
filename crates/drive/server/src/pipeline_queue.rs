//! Statements that a client has sent ahead, and whose answers it awaits.

use std::collections::VecDeque;

use engine::EngineError;

/// What is in flight, oldest first; what was when the connection was lost is told of as failed.
///
/// `F` says how an answer is read. Nothing is allocated once the line has been at its longest.
#[derive(Debug)]
pub struct PipelineQueue<F> {
    flights: VecDeque<F>,
    lost: usize,
}

impl<F> Default for PipelineQueue<F> {
    fn default() -> Self {
        Self { flights: VecDeque::new(), lost: 0 }
    }
}

impl<F> PipelineQueue<F> {
    /// Adds a statement behind the others.
    #[inline]
    pub fn push(&mut self, flight: F) {
        self.flights.push_back(flight);
    }

    /// Takes the oldest, whose answer comes next.
    ///
    /// # Errors
    /// When it was lost with its connection, or nothing is in flight.
    #[inline]
    pub fn oldest(&mut self) -> Result<F, EngineError> {
        if self.lost > 0 {
            self.lost -= 1;
            return Err(EngineError::Timeout("lost with its connection".to_owned()));
        }
        let none = || EngineError::Fatal("no statement is in flight".to_owned());
        self.flights.pop_front().ok_or_else(none)
    }

    /// Notes that nothing in flight will be answered: the connection is lost.
    pub fn lose_all(&mut self) {
        self.lost += self.flights.len();
        self.flights.clear();
    }

    /// Returns whether the oldest was lost, so that nothing is to be waited for.
    #[must_use]
    #[inline]
    pub const fn has_lost(&self) -> bool {
        self.lost > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_in_flight_when_the_connection_was_lost_fails_before_what_is_sent_later() {
        let mut ahead = PipelineQueue::default();
        ahead.push('a');
        ahead.push('b');
        assert_eq!(ahead.oldest().unwrap(), 'a');
        ahead.lose_all();
        ahead.push('c');
        assert!(ahead.has_lost());
        assert!(matches!(ahead.oldest(), Err(EngineError::Timeout(_))));
        assert!(!ahead.has_lost());
        assert_eq!(ahead.oldest().unwrap(), 'c');
        assert!(matches!(ahead.oldest(), Err(EngineError::Fatal(_))));
    }
}
