//! A statement sent ahead: how its answer is read.

use engine::Rows;
use model::Outcome;

use crate::key_value::{outcome, push_pair, push_value};
use crate::wire::{Column, Connection, Failure};

/// A statement in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flight {
    pub(crate) shape: Shape,
    /// Bytes of the values of a call, or of the key of a row that is to be read.
    pub(crate) bytes: u64,
    /// Whether its rows come as text.
    pub(crate) is_text: bool,
}

/// What comes back.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// The value of one key, or nothing.
    Get,
    /// Keys and values.
    Scan,
    /// That a key was written or deleted.
    Write,
    /// What a procedure of one statement returns.
    Call {
        /// Whether it is done even when no rows come.
        is_write: bool,
    },
}

impl Flight {
    /// Reads its answer, which is the next on the connection.
    ///
    /// # Errors
    /// When the server refuses the statement, or the connection is lost.
    #[inline]
    pub(crate) fn land(
        self,
        connection: &mut Connection,
        rows: &mut Rows,
    ) -> Result<Outcome, Failure> {
        let on_row = |column: Column, row: &[u8]| match self.shape {
            Shape::Get => {
                push_value(column, row, b"", rows);
                // The key that was asked for belongs to the row.
                rows.wrote(0, self.bytes);
            }
            Shape::Scan => push_pair(column, row, rows),
            Shape::Write => {}
            Shape::Call { .. } => rows.push(b"", row),
        };
        let done = connection.answer(self.is_text, on_row)?;
        match self.shape {
            Shape::Call { is_write } => {
                if done.affected > 0 {
                    rows.wrote(done.affected, self.bytes);
                }
                Ok(if is_write { Outcome::Done } else { outcome(rows) })
            }
            Shape::Write => Ok(Outcome::Done),
            Shape::Get | Shape::Scan => Ok(outcome(rows)),
        }
    }
}
