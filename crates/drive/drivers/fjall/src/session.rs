//! One client's session.

use engine::parts::{self, Part};
use engine::{EngineError, Result, Rows, Session};
use fjall::{Database, Guard, Keyspace, PersistMode, Readable};
use model::{Direction, Op, Outcome};

/// Longest key, beyond which lsm-tree panics.
pub(crate) const KEY_BYTES_MAX: u32 = 65_535;

/// A client's handle.
pub(crate) struct FjallSession<'e> {
    pub(crate) database: &'e Database,
    pub(crate) keyspace: &'e Keyspace,
    /// Each write is persisted in this mode, if any.
    pub(crate) persist: Option<PersistMode>,
}

impl FjallSession<'_> {
    fn written(&self) -> fjall::Result<Outcome> {
        if let Some(mode) = self.persist {
            self.database.persist(mode)?;
        }
        Ok(Outcome::Done)
    }

    fn multi_get(&self, keys: &[&[u8]], rows: &mut Rows) -> fjall::Result<Outcome> {
        let snapshot = self.database.snapshot();
        for key in keys {
            if let Some(value) = snapshot.get(self.keyspace, key)? {
                rows.push(key, &value);
            }
        }
        Ok(rows.outcome())
    }
}

impl Session for FjallSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome> {
        refuse_long_keys(op)?;
        match *op {
            Op::Get { key } => self.keyspace.get(key).map(|found| {
                found.iter().for_each(|value| rows.push(key, value));
                rows.outcome()
            }),
            Op::Put { key, value } => {
                self.keyspace.insert(key, value).and_then(|()| self.written())
            }
            Op::Delete { key } => self.keyspace.remove(key).and_then(|()| self.written()),
            Op::Scan { start, limit, direction: Direction::Forward } => {
                push(self.keyspace.range(start..), limit, rows)
            }
            Op::Scan { start, limit, direction: Direction::Reverse } => {
                push(self.keyspace.range(..=start).rev(), limit, rows)
            }
            Op::MultiGet { keys } => self.multi_get(keys, rows),
            Op::FieldRead { key, offset, length } => {
                // The value is a view of its block.
                if let Some(value) = self.keyspace.get(key).map_err(failed)? {
                    parts::push_field(key, &value, Part { offset, length }, rows)?;
                }
                return Ok(rows.outcome());
            }
            Op::Call(_)
            | Op::PartialUpdate { .. }
            | Op::Append { .. }
            | Op::ScanSequence { .. } => {
                return parts::execute("fjall", self, op, rows);
            }
        }
        .map_err(failed)
    }
}

/// Converts an error, with fjall's own message.
#[cold]
pub(crate) fn failed(error: fjall::Error) -> EngineError {
    EngineError::Fatal(format!("fjall: {error}"))
}

/// Refuses a key that would make lsm-tree panic.
fn refuse_long_keys(op: &Op<'_>) -> Result<()> {
    let is_long = |key: &[u8]| key.len() > KEY_BYTES_MAX as usize;
    let is_refused = match *op {
        Op::Get { key }
        | Op::Put { key, .. }
        | Op::Delete { key }
        | Op::PartialUpdate { key, .. }
        | Op::FieldRead { key, .. }
        | Op::Append { key, .. } => is_long(key),
        Op::Scan { start, .. } => is_long(start),
        Op::MultiGet { keys } => keys.iter().any(|key| is_long(key)),
        Op::Call(_) | Op::ScanSequence { .. } => false,
    };
    if is_refused {
        let text = format!("fjall: a key has at most {KEY_BYTES_MAX} bytes");
        return Err(EngineError::Unsupported(text));
    }
    Ok(())
}

fn push(range: impl Iterator<Item = Guard>, limit: u32, rows: &mut Rows) -> fjall::Result<Outcome> {
    for row in range.take(limit as usize) {
        let (key, value) = row.into_inner()?;
        rows.push(&key, &value);
    }
    Ok(rows.outcome())
}
