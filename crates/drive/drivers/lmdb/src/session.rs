//! One client's session: a transaction per operation.

use engine::{EngineError, Rows, Session};
use model::{Direction, Op, Outcome};

use crate::ffi_env::{Env, Position, Reader, Row, Walk};

/// A client's handle, with a reader slot of the environment.
pub(crate) struct LmdbSession<'e> {
    env: &'e Env,
    reader: Reader<'e>,
}

impl<'e> LmdbSession<'e> {
    /// Takes a reader slot.
    pub(crate) fn open(env: &'e Env) -> Result<Self, EngineError> {
        Ok(Self { env, reader: env.reader()? })
    }

    fn get(&mut self, key: &[u8], rows: &mut Rows) -> Result<(), EngineError> {
        // LMDB stores no empty key and fails on a get of it.
        if !key.is_empty()
            && let Some(value) = self.reader.snapshot()?.get(key)?
        {
            rows.push(key, value);
        }
        Ok(())
    }

    fn multi_get(&mut self, keys: &[&[u8]], rows: &mut Rows) -> Result<(), EngineError> {
        let snapshot = self.reader.snapshot()?;
        for key in keys.iter().filter(|key| !key.is_empty()) {
            if let Some(value) = snapshot.get(key)? {
                rows.push(key, value);
            }
        }
        Ok(())
    }

    fn scan(&mut self, start: &[u8], limit: u32, rows: &mut Rows) -> Result<(), EngineError> {
        let snapshot = self.reader.snapshot()?;
        let mut walk = snapshot.walk()?;
        // LMDB cannot seek to the empty key, which is before all others.
        let mut position = if start.is_empty() { Position::First } else { Position::From(start) };
        for _ in 0..limit {
            let Some((key, value)) = walk.move_to(position)? else { break };
            rows.push(key, value);
            position = Position::Next;
        }
        Ok(())
    }

    fn scan_reverse(
        &mut self,
        start: &[u8],
        limit: u32,
        rows: &mut Rows,
    ) -> Result<(), EngineError> {
        if start.is_empty() {
            return Ok(());
        }
        let snapshot = self.reader.snapshot()?;
        let mut walk = snapshot.walk()?;
        for number in 0..limit {
            let row = if number == 0 {
                at_or_before(&mut walk, start)
            } else {
                walk.move_to(Position::Previous)
            };
            let Some((key, value)) = row? else { break };
            rows.push(key, value);
        }
        Ok(())
    }
}

/// Moves to the last row at or before `key`.
fn at_or_before<'s>(walk: &mut Walk<'s>, key: &[u8]) -> Result<Option<Row<'s>>, EngineError> {
    match walk.move_to(Position::From(key))? {
        Some(row) if row.0 == key => Ok(Some(row)),
        Some(_) => walk.move_to(Position::Previous),
        None => walk.move_to(Position::Last),
    }
}

impl Session for LmdbSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        match *op {
            Op::Get { key } => self.get(key, rows)?,
            Op::Put { key, value } => return self.env.put(key, value).map(|()| Outcome::Done),
            // LMDB stores no empty key and fails on its deletion.
            Op::Delete { key: [] } => return Ok(Outcome::Done),
            Op::Delete { key } => return self.env.delete(key).map(|()| Outcome::Done),
            Op::Scan { start, limit, direction: Direction::Forward } => {
                self.scan(start, limit, rows)?;
            }
            Op::Scan { start, limit, direction: Direction::Reverse } => {
                self.scan_reverse(start, limit, rows)?;
            }
            Op::MultiGet { keys } => self.multi_get(keys, rows)?,
            Op::Call(_) => return engine::settings_check::no_procedures("lmdb"),
        }
        Ok(rows.outcome())
    }
}
