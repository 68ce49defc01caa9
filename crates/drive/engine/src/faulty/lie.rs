//! Plausible wrong answers, injected as faults.

use model::{Direction, Op};

use crate::error::Result;
use crate::rows::{OwnedRow, Rows};
use crate::traits::Session;

/// A kind of wrong answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lie {
    /// A row has the value of another key.
    Value,
    /// A row's value lacks its last byte.
    Truncate,
    /// A row is missing.
    Drop,
    /// The rows are in the wrong order.
    Reverse,
    /// A write is acknowledged but not executed.
    Ignore,
    /// A write is executed, and undone by the next close.
    Forget,
}

impl Lie {
    /// Returns whether the lie applies to writes.
    pub(super) const fn is_about_writes(self) -> bool {
        matches!(self, Self::Ignore | Self::Forget)
    }

    /// Falsifies the rows of a read; returns whether they could be falsified.
    pub(super) fn falsify(
        self,
        rows: &mut Vec<OwnedRow>,
        session: &mut dyn Session,
    ) -> Result<bool> {
        let Some((key, value)) = rows.first_mut() else { return Ok(false) };
        match self {
            Self::Value => match neighbour(session, key)? {
                Some(other) if other != *value => *value = other,
                _ => return Ok(false),
            },
            Self::Truncate => return Ok(value.pop().is_some()),
            Self::Drop => {
                rows.remove(rows.len() / 2);
            }
            Self::Reverse => {
                let is_palindrome = rows.iter().eq(rows.iter().rev());
                rows.reverse();
                return Ok(!is_palindrome);
            }
            Self::Ignore | Self::Forget => return Ok(false),
        }
        Ok(true)
    }
}

/// Returns the value of the key next to `key`: the next larger, else the next smaller one.
fn neighbour(session: &mut dyn Session, key: &[u8]) -> Result<Option<Vec<u8>>> {
    for direction in [Direction::Forward, Direction::Reverse] {
        let op = Op::Scan { start: key, limit: 2, direction };
        let found = read(session, &op)?;
        if let Some((_, value)) = found.into_iter().find(|(other, _)| other != key) {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Returns the rows of a read.
pub(super) fn read(session: &mut dyn Session, op: &Op<'_>) -> Result<Vec<OwnedRow>> {
    let mut rows = Rows::new();
    rows.clear(true);
    session.execute(op, &mut rows)?;
    Ok(rows.owned())
}
