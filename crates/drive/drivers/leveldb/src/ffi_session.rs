//! One client's session: reads and writes.
#![expect(unsafe_code, reason = "foreign functions are called here")]

use std::sync::Arc;

use dynlib::level::{Client, Iter, bytes_of};
use engine::{EngineError, Rows, Session};
use model::{Durability, Op, Outcome};

use crate::config::{Config, VERIFY_CHECKSUMS};
use crate::ffi_db::Db;
use crate::written::Written;

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
        let client = unsafe { Client::new(&db.api.level, db.handle, durability) };
        let set_verify = db.api.readoptions_set_verify_checksums;
        // SAFETY: the client's options live.
        unsafe { set_verify(client.read, config.switch(VERIFY_CHECKSUMS)) };
        Self { db, client, written }
    }

    #[inline]
    fn get(&self, key: &[u8], rows: &mut Rows) -> Result<(), EngineError> {
        let (api, db, read) = (&self.db.api, self.db.handle, self.client.read);
        let (start, mut bytes) = (key.as_ptr().cast(), 0);
        // SAFETY: database and options live, the key is borrowed, and both results are locals.
        let get = |error| unsafe { (api.get)(db, read, start, key.len(), &raw mut bytes, error) };
        let value = api.level.call(get)?;
        if !value.is_null() {
            // SAFETY: the library returned both, and the value is freed only below.
            rows.push(key, unsafe { bytes_of(value, bytes) });
            // SAFETY: the library allocated the value for us; it is not used after this.
            unsafe { (api.level.free)(value.cast()) };
        }
        Ok(())
    }

    /// Moves an iterator to the last row at or before `start`.
    fn seek_back(&self, iter: *mut Iter, start: &[u8]) {
        let (api, level) = (&self.db.api, &self.db.api.level);
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
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        match *op {
            Op::Get { key } => self.get(key, rows)?,
            Op::Put { key, value } => {
                self.client.put(key, value)?;
                self.written.put(key.len(), value.len());
                return Ok(Outcome::Done);
            }
            Op::Delete { key } => {
                self.client.delete(key)?;
                self.written.delete(key.len());
                return Ok(Outcome::Done);
            }
            Op::Scan { start, limit, direction } => {
                let back = |iter| self.seek_back(iter, start);
                self.client.scan(start, (limit, direction), rows, back)?;
            }
            Op::MultiGet { keys } => keys.iter().try_for_each(|key| self.get(key, rows))?,
            Op::Call(_) => return engine::settings_check::no_procedures("leveldb"),
        }
        Ok(rows.outcome())
    }
}
