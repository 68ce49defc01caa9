//! One client's session: reads and writes.
//!
//! One code path for every release, so that a comparison of releases compares engines: reads go
//! through `get_pinned` and `multi_get`, writes through one reused batch, and each scan makes its
//! own iterator as db_bench does (a reused one would read an old snapshot, and refreshing it is
//! in the C API only from 9.4).
#![expect(unsafe_code, reason = "foreign functions are called here")]

use std::ffi::c_char;
use std::ptr;
use std::sync::Arc;

use engine::{EngineError, Rows, Session};
use model::{Direction, Durability, Op, Outcome};

use crate::ffi::{Batch, Pinned, ReadOptions, WriteOptions, bytes_of};
use crate::ffi_db::Db;
use crate::ffi_perf::{self, PerfContext};
use crate::perf::Counted;
use crate::written::Written;

/// One client's handle.
pub(crate) struct RocksSession<'a> {
    db: &'a Db,
    read: *mut ReadOptions,
    write: *mut WriteOptions,
    batch: *mut Batch,
    written: Arc<Written>,
    /// Perf context, if requested.
    perf: Option<PerfContext>,
    keys: Vec<*const c_char>,
    key_bytes: Vec<usize>,
    values: Vec<*mut c_char>,
    value_bytes: Vec<usize>,
    pinned: Vec<*mut Pinned>,
    errors: Vec<*mut c_char>,
}

impl<'a> RocksSession<'a> {
    /// Returns a session for the calling thread, whose counting level it sets.
    pub(crate) fn new(
        db: &'a Db,
        durability: Durability,
        written: Arc<Written>,
        counted: Option<Arc<Counted>>,
    ) -> Self {
        let api = db.api;
        let perf = counted.map(|counted| PerfContext::new(api, counted));
        if perf.is_none() {
            ffi_perf::disable(api);
        }
        // SAFETY: takes nothing; the result is owned by the session.
        let read = unsafe { (api.readoptions_create)() };
        // SAFETY: `read` was just created. Without it a scan with a prefix extractor misses rows.
        unsafe { (api.readoptions_set_total_order_seek)(read, 1) };
        // SAFETY: takes nothing; the result is owned by the session.
        let write = unsafe { (api.writeoptions_create)() };
        // SAFETY: `write` was just created.
        unsafe { (api.writeoptions_disable_WAL)(write, i32::from(durability == Durability::None)) };
        // SAFETY: `write` was just created.
        unsafe { (api.writeoptions_set_sync)(write, u8::from(durability == Durability::Sync)) };
        // SAFETY: takes nothing; the result is owned by the session.
        let batch = unsafe { (api.writebatch_create)() };
        Self {
            db,
            read,
            write,
            batch,
            written,
            perf,
            keys: Vec::new(),
            key_bytes: Vec::new(),
            values: Vec::new(),
            value_bytes: Vec::new(),
            pinned: Vec::new(),
            errors: Vec::new(),
        }
    }

    #[inline]
    fn get(&mut self, key: &[u8], rows: &mut Rows) -> Result<Outcome, EngineError> {
        let (api, db) = (self.db.api, self.db.handle);
        let mut error: *mut c_char = ptr::null_mut();
        let (start, bytes) = (key.as_ptr().cast(), key.len());
        // SAFETY: database and options live, the key is borrowed, and `error` is a local.
        let pinned = unsafe { (api.get_pinned)(db, self.read, start, bytes, &raw mut error) };
        api.check(error)?;
        if pinned.is_null() {
            return Ok(Outcome::NotFound);
        }
        self.take_pinned(key, pinned, rows);
        Ok(Outcome::Done)
    }

    /// Adds a pinned value to `rows` and releases it.
    #[inline]
    fn take_pinned(&self, key: &[u8], pinned: *mut Pinned, rows: &mut Rows) {
        let mut bytes = 0;
        // SAFETY: `pinned` is a value the library just returned.
        let start = unsafe { (self.db.api.pinnableslice_value)(pinned, &raw mut bytes) };
        // SAFETY: the library returned both, and the value stays pinned until the end.
        rows.push(key, unsafe { bytes_of(start, bytes) });
        // SAFETY: `pinned` is owned, and not used after this.
        unsafe { (self.db.api.pinnableslice_destroy)(pinned) };
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<Outcome, EngineError> {
        let api = self.db.api;
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
    fn delete(&mut self, key: &[u8]) -> Result<Outcome, EngineError> {
        let api = self.db.api;
        // SAFETY: the batch is owned.
        unsafe { (api.writebatch_clear)(self.batch) };
        // SAFETY: the batch is owned; the key is borrowed, and the library copies it.
        unsafe { (api.writebatch_delete)(self.batch, key.as_ptr().cast(), key.len()) };
        self.write_batch()?;
        self.written.delete(key.len());
        Ok(Outcome::Done)
    }

    #[inline]
    fn write_batch(&mut self) -> Result<(), EngineError> {
        let (api, db) = (self.db.api, self.db.handle);
        let mut error: *mut c_char = ptr::null_mut();
        // SAFETY: all three handles live, and `error` is a local.
        unsafe { (api.write)(db, self.write, self.batch, &raw mut error) };
        api.check(error)
    }

    #[inline(never)]
    fn scan(
        &mut self,
        start: &[u8],
        limit: u32,
        direction: Direction,
        rows: &mut Rows,
    ) -> Result<Outcome, EngineError> {
        let api = self.db.api;
        // SAFETY: database and options live; the iterator is destroyed below.
        let iter = unsafe { (api.create_iterator)(self.db.handle, self.read) };
        let (seek, step) = match direction {
            Direction::Forward => (api.iter_seek, api.iter_next),
            Direction::Reverse => (api.iter_seek_for_prev, api.iter_prev),
        };
        // SAFETY: the iterator lives, and the key is borrowed.
        unsafe { seek(iter, start.as_ptr().cast(), start.len()) };
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
        api.check(error)?;
        Ok(if left < limit { Outcome::Done } else { Outcome::NotFound })
    }

    /// Prepares the arrays of a `multi_get`; they grow once and are reused.
    fn fill_arrays(&mut self, keys: &[&[u8]]) {
        self.keys.clear();
        self.keys.extend(keys.iter().map(|key| key.as_ptr().cast::<c_char>()));
        self.key_bytes.clear();
        self.key_bytes.extend(keys.iter().map(|key| key.len()));
        self.values.clear();
        self.values.resize(keys.len(), ptr::null_mut());
        self.value_bytes.clear();
        self.value_bytes.resize(keys.len(), 0);
        self.pinned.clear();
        self.pinned.resize(keys.len(), ptr::null_mut());
        self.errors.clear();
        self.errors.resize(keys.len(), ptr::null_mut());
    }

    #[inline(never)]
    fn multi_get(&mut self, keys: &[&[u8]], rows: &mut Rows) -> Result<Outcome, EngineError> {
        let (api, before) = (self.db.api, rows.count());
        self.fill_arrays(keys);
        match api.batched_multi_get_cf {
            // The family handle exists only when batched reads are requested.
            Some(batched) if !self.db.family.is_null() => {
                let (starts, sizes) = (self.keys.as_ptr(), self.key_bytes.as_ptr());
                let (values, errors) = (self.pinned.as_mut_ptr(), self.errors.as_mut_ptr());
                let (db, family, count) = (self.db.handle, self.db.family, keys.len());
                // SAFETY: every array has one entry per key, and the keys are borrowed.
                unsafe {
                    batched(db, self.read, family, count, starts, sizes, values, errors, false);
                };
            }
            _ => {
                let (starts, sizes) = (self.keys.as_ptr(), self.key_bytes.as_ptr());
                let (values, errors) = (self.values.as_mut_ptr(), self.errors.as_mut_ptr());
                let (db, count) = (self.db.handle, keys.len());
                let value_bytes = self.value_bytes.as_mut_ptr();
                // SAFETY: every array has one entry per key, and the keys are borrowed.
                unsafe {
                    let read = self.read;
                    (api.multi_get)(db, read, count, starts, sizes, values, value_bytes, errors);
                };
            }
        }
        let failure = self.take_answers(keys, rows);
        match failure {
            Some(error) => Err(error),
            None if rows.count() > before => Ok(Outcome::Done),
            None => Ok(Outcome::NotFound),
        }
    }

    /// Adds every value to `rows` and frees it; returns the last error.
    fn take_answers(&mut self, keys: &[&[u8]], rows: &mut Rows) -> Option<EngineError> {
        let (api, mut failure) = (self.db.api, None);
        for (index, key) in keys.iter().enumerate() {
            if !self.errors[index].is_null() {
                failure = Some(api.take_error(self.errors[index]));
            }
            if !self.pinned[index].is_null() {
                self.take_pinned(key, self.pinned[index], rows);
            }
            let value = self.values[index];
            if !value.is_null() {
                // SAFETY: the library returned both, and the value is freed only below.
                rows.push(key, unsafe { bytes_of(value, self.value_bytes[index]) });
                // SAFETY: the library allocated the value for us; it is not used after this.
                unsafe { (api.free)(value.cast()) };
            }
        }
        failure
    }
}

impl Session for RocksSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        if let Some(perf) = &mut self.perf {
            perf.count();
        }
        match *op {
            Op::Get { key } => self.get(key, rows),
            Op::Put { key, value } => self.put(key, value),
            Op::Delete { key } => self.delete(key),
            Op::Scan { start, limit, direction } => self.scan(start, limit, direction, rows),
            Op::MultiGet { keys } => self.multi_get(keys, rows),
            Op::Call(_) => engine::settings_check::no_procedures("rocksdb"),
        }
    }
}

impl Drop for RocksSession<'_> {
    fn drop(&mut self) {
        let api = self.db.api;
        // SAFETY: the batch is owned, and this is its last use.
        unsafe { (api.writebatch_destroy)(self.batch) };
        // SAFETY: the options are owned, and this is their last use.
        unsafe { (api.writeoptions_destroy)(self.write) };
        // SAFETY: the options are owned, and this is their last use.
        unsafe { (api.readoptions_destroy)(self.read) };
    }
}
