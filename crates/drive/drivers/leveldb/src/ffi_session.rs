//! One client's session: reads and writes.
//!
//! Writes go through one reused batch, as in LevelDB's own benchmark: its put makes a batch of its
//! own each time. Each scan makes its own iterator: a reused one reads an old snapshot.
#![expect(unsafe_code, reason = "foreign functions are called here")]

use std::ffi::c_char;
use std::ptr;
use std::sync::Arc;

use engine::{EngineError, Rows, Session};
use model::{Direction, Durability, Op, Outcome};

use crate::config::Config;
use crate::ffi::{Batch, Iter, ReadOptions, WriteOptions, bytes_of};
use crate::ffi_db::Db;
use crate::written::Written;

/// One client's handle.
pub(crate) struct LevelSession<'a> {
    db: &'a Db,
    read: *mut ReadOptions,
    write: *mut WriteOptions,
    batch: *mut Batch,
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
        let (api, is_verified) = (&db.api, config.verify_checksums);
        // SAFETY: takes nothing; the result is owned by the session.
        let read = unsafe { (api.readoptions_create)() };
        // SAFETY: `read` was just created.
        unsafe { (api.readoptions_set_verify_checksums)(read, u8::from(is_verified)) };
        // SAFETY: takes nothing; the result is owned by the session.
        let write = unsafe { (api.writeoptions_create)() };
        // SAFETY: `write` was just created.
        unsafe { (api.writeoptions_set_sync)(write, u8::from(durability == Durability::Sync)) };
        // SAFETY: takes nothing; the result is owned by the session.
        let batch = unsafe { (api.writebatch_create)() };
        Self { db, read, write, batch, written }
    }

    #[inline]
    fn get(&self, key: &[u8], rows: &mut Rows) -> Result<(), EngineError> {
        let (api, db) = (&self.db.api, self.db.handle);
        let (mut error, mut bytes): (*mut c_char, _) = (ptr::null_mut(), 0);
        let start = key.as_ptr().cast();
        // SAFETY: database and options live, the key is borrowed, and both results are locals.
        let value =
            unsafe { (api.get)(db, self.read, start, key.len(), &raw mut bytes, &raw mut error) };
        api.check(error)?;
        if !value.is_null() {
            // SAFETY: the library returned both, and the value is freed only below.
            rows.push(key, unsafe { bytes_of(value, bytes) });
            // SAFETY: the library allocated the value for us; it is not used after this.
            unsafe { (api.free)(value.cast()) };
        }
        Ok(())
    }

    #[inline]
    fn put(&self, key: &[u8], value: &[u8]) -> Result<Outcome, EngineError> {
        let api = &self.db.api;
        // SAFETY: the batch is owned.
        unsafe { (api.writebatch_clear)(self.batch) };
        let (key_start, value_start) = (key.as_ptr().cast(), value.as_ptr().cast());
        // SAFETY: the batch is owned; key and value are borrowed, and the library copies them.
        unsafe {
            (api.writebatch_put)(self.batch, key_start, key.len(), value_start, value.len());
        };
        self.write_batch()?;
        self.written.put(key.len(), value.len());
        Ok(Outcome::Done)
    }

    #[inline]
    fn delete(&self, key: &[u8]) -> Result<Outcome, EngineError> {
        let api = &self.db.api;
        // SAFETY: the batch is owned.
        unsafe { (api.writebatch_clear)(self.batch) };
        // SAFETY: the batch is owned; the key is borrowed, and the library copies it.
        unsafe { (api.writebatch_delete)(self.batch, key.as_ptr().cast(), key.len()) };
        self.write_batch()?;
        self.written.delete(key.len());
        Ok(Outcome::Done)
    }

    #[inline]
    fn write_batch(&self) -> Result<(), EngineError> {
        let (api, db) = (&self.db.api, self.db.handle);
        let mut error: *mut c_char = ptr::null_mut();
        // SAFETY: all three handles live, and `error` is a local.
        unsafe { (api.write)(db, self.write, self.batch, &raw mut error) };
        api.check(error)
    }

    fn scan(
        &self,
        start: &[u8],
        limit: u32,
        direction: Direction,
        rows: &mut Rows,
    ) -> Result<(), EngineError> {
        let api = &self.db.api;
        // SAFETY: database and options live; the iterator is destroyed below.
        let iter = unsafe { (api.create_iterator)(self.db.handle, self.read) };
        // SAFETY: the iterator lives, and the key is borrowed.
        unsafe { (api.iter_seek)(iter, start.as_ptr().cast(), start.len()) };
        let step = match direction {
            Direction::Forward => api.iter_next,
            Direction::Reverse => {
                self.move_back(iter, start);
                api.iter_prev
            }
        };
        // Copied to locals: through the reference each foreign call would reload them.
        let (valid, key_of, value_of) = (api.iter_valid, api.iter_key, api.iter_value);
        let mut left = limit;
        // SAFETY: the iterator lives.
        while left > 0 && unsafe { valid(iter) } != 0 {
            let (mut key_bytes, mut value_bytes) = (0, 0);
            // SAFETY: the iterator lives and is valid.
            let key = unsafe { key_of(iter, &raw mut key_bytes) };
            // SAFETY: the iterator lives and is valid.
            let value = unsafe { value_of(iter, &raw mut value_bytes) };
            // SAFETY: the library returned both, and the iterator stays where it is.
            let key = unsafe { bytes_of(key, key_bytes) };
            // SAFETY: the library returned both, and the iterator stays where it is.
            rows.push(key, unsafe { bytes_of(value, value_bytes) });
            left -= 1;
            if left > 0 {
                // SAFETY: the iterator lives and is valid.
                unsafe { step(iter) };
            }
        }
        let mut error: *mut c_char = ptr::null_mut();
        if left > 0 {
            // SAFETY: the iterator lives. One that failed is not valid, so it ended the loop.
            unsafe { (api.iter_get_error)(iter, &raw mut error) };
        }
        // SAFETY: the iterator is owned, and not used after this.
        unsafe { (api.iter_destroy)(iter) };
        api.check(error)
    }

    /// Moves an iterator from `start` to the last row at or before it.
    fn move_back(&self, iter: *mut Iter, start: &[u8]) {
        let api = &self.db.api;
        // SAFETY: the iterator lives.
        if unsafe { (api.iter_valid)(iter) } == 0 {
            // SAFETY: the iterator lives.
            return unsafe { (api.iter_seek_to_last)(iter) };
        }
        let mut bytes = 0;
        // SAFETY: the iterator lives and is valid.
        let key = unsafe { (api.iter_key)(iter, &raw mut bytes) };
        // SAFETY: the library returned both, and the iterator stays where it is.
        if unsafe { bytes_of(key, bytes) } != start {
            // SAFETY: the iterator lives and is valid.
            unsafe { (api.iter_prev)(iter) };
        }
    }
}

impl Session for LevelSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        match *op {
            Op::Get { key } => self.get(key, rows)?,
            Op::Put { key, value } => return self.put(key, value),
            Op::Delete { key } => return self.delete(key),
            Op::Scan { start, limit, direction } => self.scan(start, limit, direction, rows)?,
            Op::MultiGet { keys } => keys.iter().try_for_each(|key| self.get(key, rows))?,
            Op::Call(_) => return engine::settings_check::no_procedures("leveldb"),
        }
        Ok(if rows.count() == 0 { Outcome::NotFound } else { Outcome::Done })
    }
}

impl Drop for LevelSession<'_> {
    fn drop(&mut self) {
        let api = &self.db.api;
        // SAFETY: the batch is owned, and this is its last use.
        unsafe { (api.writebatch_destroy)(self.batch) };
        // SAFETY: the options are owned, and this is their last use.
        unsafe { (api.writeoptions_destroy)(self.write) };
        // SAFETY: the options are owned, and this is their last use.
        unsafe { (api.readoptions_destroy)(self.read) };
    }
}
