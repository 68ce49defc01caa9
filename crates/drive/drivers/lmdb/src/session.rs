//! One client's session: a transaction per operation.

use engine::parts::{self, Part};
use engine::{Result, Rows, Session};
use lmdb_master_sys::{MDB_FIRST, MDB_LAST, MDB_NEXT, MDB_PREV, MDB_SET_RANGE};
use model::{Direction, Op, Outcome};

use crate::ffi_env::{Env, Reader, Row, Walk};

/// A client's handle, with a reader slot of the environment.
pub(crate) struct LmdbSession<'e> {
    env: &'e Env,
    reader: Reader<'e>,
}

impl<'e> LmdbSession<'e> {
    /// Takes a reader slot.
    pub(crate) fn open(env: &'e Env) -> Result<Self> {
        Ok(Self { env, reader: env.reader()? })
    }

    /// Reads keys in one snapshot; LMDB stores no empty key and fails on a get of it.
    fn get(&mut self, keys: &[&[u8]], rows: &mut Rows) -> Result<()> {
        let snapshot = self.reader.snapshot()?;
        for key in keys.iter().filter(|key| !key.is_empty()) {
            if let Some(value) = snapshot.get(key)? {
                rows.push(key, value);
            }
        }
        Ok(())
    }

    /// Reads bytes of a value in the memory map.
    fn field(&mut self, key: &[u8], part: Part, rows: &mut Rows) -> Result<()> {
        if key.is_empty() {
            return Ok(());
        }
        match self.reader.snapshot()?.get(key)? {
            Some(value) => parts::push_field(key, value, part, rows),
            None => Ok(()),
        }
    }

    fn scan(
        &mut self,
        start: &[u8],
        limit: u32,
        direction: Direction,
        rows: &mut Rows,
    ) -> Result<()> {
        let snapshot = self.reader.snapshot()?;
        let mut walk = snapshot.walk()?;
        let step = match direction {
            Direction::Forward => MDB_NEXT,
            Direction::Reverse => MDB_PREV,
        };
        for number in 0..limit {
            let row = match (number, direction) {
                (0, Direction::Reverse) => at_or_before(&mut walk, start),
                // LMDB cannot seek to the empty key, which is before all others.
                (0, _) if start.is_empty() => walk.move_to(MDB_FIRST, &[]),
                (0, _) => walk.move_to(MDB_SET_RANGE, start),
                _ => walk.move_to(step, &[]),
            };
            let Some((key, value)) = row? else { break };
            rows.push(key, value);
        }
        Ok(())
    }
}

/// Moves to the last row at or before `key`.
fn at_or_before<'s>(walk: &mut Walk<'s>, key: &[u8]) -> Result<Option<Row<'s>>> {
    if key.is_empty() {
        return Ok(None);
    }
    match walk.move_to(MDB_SET_RANGE, key)? {
        Some(row) if row.0 == key => Ok(Some(row)),
        Some(_) => walk.move_to(MDB_PREV, &[]),
        None => walk.move_to(MDB_LAST, &[]),
    }
}

impl Session for LmdbSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome> {
        match *op {
            Op::Get { key } => self.get(&[key], rows)?,
            Op::Put { key, value } => {
                return self.env.write(key, Some(value)).map(|()| Outcome::Done);
            }
            // LMDB stores no empty key and fails on its deletion.
            Op::Delete { key: [] } => return Ok(Outcome::Done),
            Op::Delete { key } => return self.env.write(key, None).map(|()| Outcome::Done),
            Op::Scan { start, limit, direction } => self.scan(start, limit, direction, rows)?,
            Op::MultiGet { keys } => self.get(keys, rows)?,
            Op::FieldRead { key, offset, length } => {
                self.field(key, Part { offset, length }, rows)?
            }
            Op::Call(_)
            | Op::PartialUpdate { .. }
            | Op::Append { .. }
            | Op::ScanSequence { .. } => {
                return parts::execute("lmdb", self, op, rows);
            }
        }
        Ok(rows.outcome())
    }
}
