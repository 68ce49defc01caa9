//! A pipelined statement and how its answer is read.

use engine::Rows;
use model::Outcome;

use crate::key_value::{outcome, push_pair, push_value};
use crate::wire::{Column, Connection, Failure};

/// A statement in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight {
    pub(crate) expected: ExpectedResult,
    /// Bytes of a call's values, or of the key of a read.
    pub(crate) bytes: u64,
    /// Whether its rows come as text.
    pub(crate) is_text: bool,
}

/// The expected result.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ExpectedResult {
    /// The value of one key, or nothing.
    Get,
    /// Keys and values.
    Scan,
    /// Confirmation of a write or delete.
    Write,
    /// The rows of a single-statement procedure.
    Call {
        /// Whether it counts as done without rows.
        is_write: bool,
    },
}

impl InFlight {
    /// Reads its answer, the next one on the connection.
    ///
    /// # Errors
    /// When the server refuses the statement, or the connection is lost.
    #[inline]
    pub(crate) fn complete(
        self,
        connection: &mut Connection,
        rows: &mut Rows,
    ) -> Result<Outcome, Failure> {
        let on_row = |column: Column, row: &[u8]| match self.expected {
            ExpectedResult::Get => {
                push_value(column, row, b"", rows);
                // The key belongs to the row.
                rows.wrote(0, self.bytes);
            }
            ExpectedResult::Scan => push_pair(column, row, rows),
            ExpectedResult::Write => {}
            ExpectedResult::Call { .. } => rows.push(b"", row),
        };
        let done = connection.answer(self.is_text, on_row)?;
        match self.expected {
            ExpectedResult::Call { is_write } => {
                if done.affected > 0 {
                    rows.wrote(done.affected, self.bytes);
                }
                Ok(if is_write { Outcome::Done } else { outcome(rows) })
            }
            ExpectedResult::Write => Ok(Outcome::Done),
            ExpectedResult::Get | ExpectedResult::Scan => Ok(outcome(rows)),
        }
    }
}
