//! One client: a transaction per operation on the unnamed table.

use std::ops::Bound;

use engine::{EngineError, Rows, Session};
use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, WithTls};
use model::{Direction, Op, Outcome};

use crate::error::failed;

/// A client's handle; its thread owns one reader slot of the environment.
pub(crate) struct LmdbSession<'e> {
    env: &'e Env<WithTls>,
    table: Database<'e, Bytes, Bytes>,
}

impl<'e> LmdbSession<'e> {
    /// Opens the table for the calling thread.
    pub(crate) fn open(env: &'e Env<WithTls>) -> Result<Self, EngineError> {
        let txn = env.read_txn().map_err(failed)?;
        let opened = env
            .open_databases_and_commit(txn, |opener, txn| {
                opener.open_database(txn, None).map(CommitOrAbort::<_, ()>::Commit)
            })
            .map_err(failed)?;
        let CommitOrAbort::Commit(Some(table)) = opened else {
            return Err(EngineError::Fatal("lmdb: the unnamed table is missing".to_owned()));
        };
        Ok(Self { env, table })
    }

    fn get(&self, key: &[u8], rows: &mut Rows) -> heed::Result<Outcome> {
        let txn = self.env.read_txn()?;
        // LMDB stores no empty key and fails on the question.
        if !key.is_empty()
            && let Some(value) = self.table.get(&txn, key)?
        {
            rows.push(key, value);
        }
        Ok(outcome(rows))
    }

    fn multi_get(&self, keys: &[&[u8]], rows: &mut Rows) -> heed::Result<Outcome> {
        let txn = self.env.read_txn()?;
        for key in keys.iter().filter(|key| !key.is_empty()) {
            if let Some(value) = self.table.get(&txn, key)? {
                rows.push(key, value);
            }
        }
        Ok(outcome(rows))
    }

    fn scan(&self, start: &[u8], limit: u32, rows: &mut Rows) -> heed::Result<Outcome> {
        let txn = self.env.read_txn()?;
        let range = (from(start), Bound::Unbounded);
        for row in self.table.range(&txn, &range)?.take(limit as usize) {
            let (key, value) = row?;
            rows.push(key, value);
        }
        Ok(outcome(rows))
    }

    fn scan_reverse(&self, start: &[u8], limit: u32, rows: &mut Rows) -> heed::Result<Outcome> {
        if start.is_empty() {
            return Ok(Outcome::NotFound);
        }
        let txn = self.env.read_txn()?;
        let range = (Bound::Unbounded, from(start));
        for row in self.table.rev_range(&txn, &range)?.take(limit as usize) {
            let (key, value) = row?;
            rows.push(key, value);
        }
        Ok(outcome(rows))
    }

    fn put(&self, key: &[u8], value: &[u8]) -> heed::Result<Outcome> {
        let mut txn = self.env.write_txn()?;
        self.table.put(&mut txn, key, value)?;
        txn.commit()?;
        Ok(Outcome::Done)
    }

    fn delete(&self, key: &[u8]) -> heed::Result<Outcome> {
        if !key.is_empty() {
            let mut txn = self.env.write_txn()?;
            self.table.delete(&mut txn, key)?;
            txn.commit()?;
        }
        Ok(Outcome::Done)
    }
}

impl Session for LmdbSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        match *op {
            Op::Get { key } => self.get(key, rows),
            Op::Put { key, value } => self.put(key, value),
            Op::Delete { key } => self.delete(key),
            Op::Scan { start, limit, direction: Direction::Forward } => {
                self.scan(start, limit, rows)
            }
            Op::Scan { start, limit, direction: Direction::Reverse } => {
                self.scan_reverse(start, limit, rows)
            }
            Op::MultiGet { keys } => self.multi_get(keys, rows),
        }
        .map_err(failed)
    }
}

/// Returns the bound at `start`; the empty key, which LMDB cannot seek to, is before all others.
fn from(start: &[u8]) -> Bound<&[u8]> {
    if start.is_empty() { Bound::Unbounded } else { Bound::Included(start) }
}

fn outcome(rows: &Rows) -> Outcome {
    if rows.count() == 0 { Outcome::NotFound } else { Outcome::Done }
}
