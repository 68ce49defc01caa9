//! One client's session: reads and writes.
#![expect(unsafe_code, reason = "foreign functions are called here")]

use std::sync::Arc;

use dynlib::level::{Client, Iter, bytes_of};
use dynlib::written::{Written, batch_bytes};
use engine::{Result, Rows, Session};
use model::{Direction, Durability, Op, Outcome};

use crate::config::{Config, VERIFY_CHECKSUMS};
use crate::ffi_db::Db;

/// Bytes before each piece of a record in the log: checksum, length and type.
///
/// Source: [LevelDB source] `db/log_format.h`, `kHeaderSize`.
const PIECE_HEADER_BYTES: usize = 7;
/// Bytes of a record that fit into one block of the log.
///
/// Source: [LevelDB source] `db/log_format.h`, `kBlockSize`.
const PIECE_BYTES: usize = 32_768 - PIECE_HEADER_BYTES;

/// Returns the bytes of a batch in the log.
#[inline]
const fn record_bytes(batch: usize) -> usize {
    batch + PIECE_HEADER_BYTES * batch.div_ceil(PIECE_BYTES)
}

/// One client's handle.
pub(crate) struct LevelSession<'a> {
    db: &'a Db,
    client: Client<'a>,
    written: Arc<Written>,
}

impl<'a> LevelSession<'a> {
    /// Returns a session with the read options of `config`, counting in `written`.
    pub(crate) fn new(
        db: &'a Db,
        durability: Durability,
        config: &Config,
        written: Arc<Written>,
    ) -> Self {
        // SAFETY: the database is borrowed for as long.
        let client = unsafe { Client::new(&db.level, db.handle, durability) };
        let set_verify = db.api.readoptions_set_verify_checksums;
        // SAFETY: the client's options live.
        unsafe { set_verify(client.read.handle, config.switch(VERIFY_CHECKSUMS)) };
        Self { db, client, written }
    }

    #[inline]
    fn get(&self, key: &[u8], rows: &mut Rows) -> Result<()> {
        let (api, level) = (&self.db.api, &self.db.level);
        let (db, read) = (self.db.handle, self.client.read.handle);
        let (start, mut bytes) = (key.as_ptr().cast(), 0);
        // SAFETY: database and options live, the key is borrowed, and both results are locals.
        let get = |error| unsafe { (api.get)(db, read, start, key.len(), &raw mut bytes, error) };
        let value = level.call(get)?;
        if !value.is_null() {
            // SAFETY: the library returned both, and the value is freed only below.
            rows.push(key, unsafe { bytes_of(value, bytes) });
            // SAFETY: the library allocated the value for us; it is not used after this.
            unsafe { (level.free)(value.cast()) };
        }
        Ok(())
    }

    #[inline]
    fn write(&self, key: &[u8], value: Option<&[u8]>) -> Result<Outcome> {
        self.client.write(key, value)?;
        let batch = batch_bytes(key.len(), value.map(<[u8]>::len));
        self.written.add(key.len() + value.map_or(0, <[u8]>::len), record_bytes(batch));
        Ok(Outcome::Done)
    }

    /// Moves an iterator to the last row at or before `start`.
    fn seek_back(&self, iter: *mut Iter, start: &[u8]) {
        let (api, level) = (&self.db.api, &self.db.level);
        // SAFETY: the iterator lives, and the key is borrowed.
        unsafe { (level.iter_seek)(iter, start.as_ptr().cast(), start.len()) };
        // SAFETY: the iterator lives.
        if unsafe { (level.iter_valid)(iter) } == 0 {
            // SAFETY: the iterator lives.
            return unsafe { (api.iter_seek_to_last)(iter) };
        }
        let mut bytes = 0;
        // SAFETY: the iterator lives and is valid.
        let key = unsafe { (level.iter_key)(iter, &raw mut bytes) };
        // SAFETY: the library returned both, and the iterator stays where it is.
        if unsafe { bytes_of(key, bytes) } != start {
            // SAFETY: the iterator lives and is valid.
            unsafe { (level.iter_prev)(iter) };
        }
    }
}

impl Session for LevelSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome> {
        match *op {
            Op::Get { key } => self.get(key, rows)?,
            Op::Put { key, value } => return self.write(key, Some(value)),
            Op::Delete { key } => return self.write(key, None),
            Op::Scan { start, limit, direction } => {
                let back = |iter| self.seek_back(iter, start);
                let back = (direction == Direction::Reverse).then_some(back);
                self.client.scan(start, limit, back, rows)?;
            }
            Op::MultiGet { keys } => keys.iter().try_for_each(|key| self.get(key, rows))?,
            Op::Call(_)
            | Op::PartialUpdate { .. }
            | Op::FieldRead { .. }
            | Op::Append { .. }
            | Op::ScanSequence { .. } => {
                return engine::parts::execute("leveldb", self, op, rows);
            }
        }
        Ok(rows.outcome())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_counted_as_leveldb_lays_it_out() {
        assert_eq!(record_bytes(batch_bytes(20, Some(100))), 7 + 12 + 1 + 1 + 20 + 1 + 100);
        assert_eq!(record_bytes(40_000), 40_000 + 2 * 7);
    }
}
