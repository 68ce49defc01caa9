//! Times of the statements of a call.

use std::fmt;

use model::Nanos;

/// One executed statement of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedStatement {
    /// Position among the procedure's statements, from 1.
    pub number: u32,
    /// Time since the statement before it, or since the first began.
    pub service: Nanos,
}

/// The statements of a call that ended, timed by a clock of the caller's.
///
/// A driver reads no clock: it marks the end of each statement. Each mark is one reading.
pub struct StatementTimes {
    clock: Box<dyn Fn() -> Nanos + Send>,
    last: Nanos,
    ended: Vec<EndedStatement>,
}

impl StatementTimes {
    /// Returns times by that clock.
    pub fn new(clock: impl Fn() -> Nanos + Send + 'static) -> Self {
        Self { clock: Box::new(clock), last: Nanos(0), ended: Vec::new() }
    }

    pub(crate) fn begin(&mut self) {
        self.last = (self.clock)();
    }

    pub(crate) fn end(&mut self, number: u32) {
        let now = (self.clock)();
        self.ended.push(EndedStatement { number, service: now.since(self.last) });
        self.last = now;
    }

    /// Removes the statements that ended, in order, and returns them.
    pub fn take(&mut self) -> impl Iterator<Item = EndedStatement> {
        self.ended.drain(..)
    }
}

impl fmt::Debug for StatementTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatementTimes").field("ended", &self.ended).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::Rows;

    #[test]
    fn statements_are_timed_only_while_requested() {
        let now = AtomicU64::new(0);
        let clock = move || Nanos(now.fetch_add(10, Ordering::Relaxed));
        let mut rows = Rows::new();
        rows.end_statement(7);
        assert!(rows.replace_statement_times(Some(StatementTimes::new(clock).into())).is_none());
        rows.begin_statements();
        rows.end_statement(1);
        rows.clear(false);
        // Another attempt: the pause before it is of no statement.
        rows.begin_statements();
        rows.end_statement(1);
        rows.end_statement(4);
        let mut times = rows.replace_statement_times(None).expect("it was there");
        let ended: Vec<_> = times.take().map(|it| (it.number, it.service.0)).collect();
        assert_eq!(ended, [(1, 10), (1, 10), (4, 10)]);
        assert_eq!(times.take().count(), 0);
    }
}
