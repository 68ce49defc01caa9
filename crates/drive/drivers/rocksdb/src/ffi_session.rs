//! One client's session: reads and writes.
//!
//! One code path for every release, so that a comparison of releases compares engines: reads go
//! through `get_pinned` and `multi_get`; writes and scans are those of `dynlib::level`, since a
//! refresh of a reused iterator is in the C API only from 9.4.
#![expect(unsafe_code, reason = "foreign functions are called here")]

use std::ffi::c_char;
use std::ptr;
use std::sync::Arc;

use dynlib::level::{Client, bytes_of};
use dynlib::written::{Written, batch_bytes};
use engine::parts::{self, Part};
use engine::{EngineError, Result, Rows, Session};
use model::{Direction, Durability, Op, Outcome};

use crate::ffi::{Api, Pinned};
use crate::ffi_db::Db;
use crate::ffi_perf::{self, PerfContext};
use crate::merge::encode;
use crate::perf::Counted;

/// One client's handle.
pub(crate) struct RocksSession<'a> {
    db: &'a Db,
    client: Client<'a>,
    written: Arc<Written>,
    /// Perf context, if requested.
    perf: Option<PerfContext>,
    arrays: Arrays,
    /// Whether parts of values are changed by merges.
    is_merging: bool,
    /// The operand of a merge; grows once and is reused.
    operand: Vec<u8>,
}

/// Arguments of a `multi_get`; the arrays grow once and are reused.
#[derive(Default)]
struct Arrays {
    keys: Vec<*const c_char>,
    key_bytes: Vec<usize>,
    values: Vec<*mut c_char>,
    value_bytes: Vec<usize>,
    pinned: Vec<*mut Pinned>,
    errors: Vec<*mut c_char>,
}

impl Arrays {
    fn fill(&mut self, keys: &[&[u8]]) {
        fn reset<T: Clone>(array: &mut Vec<T>, count: usize, value: T) {
            array.clear();
            array.resize(count, value);
        }
        self.keys.clear();
        self.keys.extend(keys.iter().map(|key| key.as_ptr().cast::<c_char>()));
        self.key_bytes.clear();
        self.key_bytes.extend(keys.iter().map(|key| key.len()));
        reset(&mut self.values, keys.len(), ptr::null_mut());
        reset(&mut self.value_bytes, keys.len(), 0);
        reset(&mut self.pinned, keys.len(), ptr::null_mut());
        reset(&mut self.errors, keys.len(), ptr::null_mut());
    }
}

impl<'a> RocksSession<'a> {
    /// Returns a session for the calling thread, whose counting level it sets.
    pub(crate) fn new(
        db: &'a Db,
        durability: Durability,
        is_merging: bool,
        written: Arc<Written>,
        counted: Option<Arc<Counted>>,
    ) -> Self {
        let api = db.api;
        let perf = counted.map(|counted| PerfContext::new(api, counted));
        if perf.is_none() {
            ffi_perf::disable(api);
        }
        // SAFETY: the database is borrowed for as long.
        let client = unsafe { Client::new(&api.level, db.handle, durability) };
        // SAFETY: the options live. Without it a scan with a prefix extractor misses rows.
        unsafe { (api.readoptions_set_total_order_seek)(client.read.handle, 1) };
        let has_no_wal = i32::from(durability == Durability::None);
        // SAFETY: the client's options live.
        unsafe { (api.writeoptions_disable_WAL)(client.write.handle, has_no_wal) };
        Self {
            db,
            client,
            written,
            perf,
            arrays: Arrays::default(),
            is_merging,
            operand: Vec::new(),
        }
    }

    #[inline]
    fn count(&mut self) {
        if let Some(perf) = &mut self.perf {
            perf.count();
        }
    }

    /// Calls `take` with a pinned value and releases it.
    #[inline]
    fn take_pinned<R>(api: &Api, pinned: *mut Pinned, take: impl FnOnce(&[u8]) -> R) -> R {
        let mut bytes = 0;
        // SAFETY: `pinned` is a value the library just returned.
        let start = unsafe { (api.pinnableslice_value)(pinned, &raw mut bytes) };
        // SAFETY: the library returned both, and the value stays pinned until the end.
        let taken = take(unsafe { bytes_of(start, bytes) });
        // SAFETY: `pinned` is owned, and not used after this.
        unsafe { (api.pinnableslice_destroy)(pinned) };
        taken
    }

    /// Calls `take` with the value of a key, if it is present.
    #[inline(always)]
    fn find<R>(&mut self, key: &[u8], take: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        self.count();
        let (api, db, read) = (self.db.api, self.db.handle, self.client.read.handle);
        let (start, bytes) = (key.as_ptr().cast(), key.len());
        // SAFETY: database and options live, the key is borrowed; `error` is a local of `call`.
        let get = |error| unsafe { (api.get_pinned)(db, read, start, bytes, error) };
        let pinned = api.level.call(get)?;
        Ok((!pinned.is_null()).then(|| Self::take_pinned(api, pinned, take)))
    }

    /// Reads bytes of a value in its block.
    #[inline(never)]
    fn field(&mut self, key: &[u8], part: Part, rows: &mut Rows) -> Result<Outcome> {
        let push = |value: &[u8]| parts::push_field(key, value, part, rows);
        self.find(key, push)?.transpose()?;
        Ok(rows.outcome())
    }

    #[inline(always)]
    fn write(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<Outcome> {
        self.count();
        self.client.write(key, value)?;
        let value = value.map(<[u8]>::len);
        self.written.add(key.len() + value.unwrap_or(0), batch_bytes(key.len(), value));
        Ok(Outcome::Done)
    }

    #[inline(never)]
    fn delete(&mut self, key: &[u8]) -> Result<Outcome> {
        self.write(key, None)
    }

    /// Writes a change of a part of a value as a merge operand, without reading the row.
    #[inline(never)]
    fn merge(
        &mut self,
        key: &[u8],
        offset: Option<u32>,
        bytes: &[u8],
        rows: &mut Rows,
    ) -> Result<Outcome> {
        self.count();
        encode(&mut self.operand, offset, bytes);
        let (merge, operand) = (self.db.api.writebatch_merge, &self.operand);
        let (start, from) = (key.as_ptr().cast(), operand.as_ptr().cast());
        self.client.write_batch(|batch| {
            // SAFETY: the batch lives; key and operand are borrowed, and the library copies them.
            unsafe { merge(batch, start, key.len(), from, operand.len()) };
        })?;
        self.written.add(key.len() + bytes.len(), batch_bytes(key.len(), Some(operand.len())));
        Ok(parts::changed(key, bytes, rows))
    }

    #[inline(never)]
    fn multi_get(&mut self, keys: &[&[u8]], rows: &mut Rows) -> Result<Outcome> {
        self.count();
        let api = self.db.api;
        let (db, read, family) = (self.db.handle, self.client.read.handle, self.db.family);
        let arrays = &mut self.arrays;
        arrays.fill(keys);
        let (count, starts, sizes) = (keys.len(), arrays.keys.as_ptr(), arrays.key_bytes.as_ptr());
        let errors = arrays.errors.as_mut_ptr();
        match api.batched_multi_get_cf {
            // The family handle exists only when batched reads are requested.
            Some(batched) if !family.is_null() => {
                let pinned = arrays.pinned.as_mut_ptr();
                // SAFETY: every array has one entry per key, and the keys are borrowed.
                unsafe { batched(db, read, family, count, starts, sizes, pinned, errors, false) };
            }
            _ => {
                let (values, bytes) = (arrays.values.as_mut_ptr(), arrays.value_bytes.as_mut_ptr());
                // SAFETY: every array has one entry per key, and the keys are borrowed.
                unsafe { (api.multi_get)(db, read, count, starts, sizes, values, bytes, errors) };
            }
        }
        match self.take_answers(keys, rows) {
            Some(error) => Err(error),
            None => Ok(rows.outcome()),
        }
    }

    /// Adds every value to `rows` and frees it; returns the last error.
    fn take_answers(&self, keys: &[&[u8]], rows: &mut Rows) -> Option<EngineError> {
        let (api, arrays, mut failure) = (self.db.api, &self.arrays, None);
        for (index, key) in keys.iter().enumerate() {
            if !arrays.errors[index].is_null() {
                // SAFETY: the library wrote the error.
                failure = Some(unsafe { api.level.take_error(arrays.errors[index]) });
            }
            if !arrays.pinned[index].is_null() {
                Self::take_pinned(api, arrays.pinned[index], |value| rows.push(key, value));
            }
            let value = arrays.values[index];
            if !value.is_null() {
                // SAFETY: the library returned both, and the value is freed only below.
                rows.push(key, unsafe { bytes_of(value, arrays.value_bytes[index]) });
                // SAFETY: the library allocated the value for us; it is not used after this.
                unsafe { (api.level.free)(value.cast()) };
            }
        }
        failure
    }
}

/// Each operation is a function that is jumped to: it saves no more registers than it needs itself.
impl Session for RocksSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome> {
        match *op {
            Op::Get { key } => self.execute_get(key, rows),
            Op::Put { key, value } => self.execute_put(key, value, rows),
            Op::Delete { key } => self.delete(key),
            Op::Scan { start, limit, direction } => {
                self.execute_scan(start, limit, direction, rows)
            }
            Op::MultiGet { keys } => self.multi_get(keys, rows),
            Op::FieldRead { key, offset, length } => self.field(key, Part { offset, length }, rows),
            Op::PartialUpdate { key, offset, bytes } if self.is_merging => {
                self.merge(key, Some(offset), bytes, rows)
            }
            Op::Append { key, bytes } if self.is_merging => self.merge(key, None, bytes, rows),
            Op::Call(_)
            | Op::PartialUpdate { .. }
            | Op::Append { .. }
            | Op::ScanSequence { .. } => parts::execute("rocksdb", self, op, rows),
        }
    }

    #[inline(never)]
    fn execute_get(&mut self, key: &[u8], rows: &mut Rows) -> Result<Outcome> {
        let found = self.find(key, |value| rows.push(key, value))?;
        Ok(if found.is_some() { Outcome::Done } else { Outcome::NotFound })
    }

    #[inline(never)]
    fn execute_put(&mut self, key: &[u8], value: &[u8], _rows: &mut Rows) -> Result<Outcome> {
        self.write(key, Some(value))
    }

    #[inline(never)]
    fn execute_scan(
        &mut self,
        start: &[u8],
        limit: u32,
        direction: Direction,
        rows: &mut Rows,
    ) -> Result<Outcome> {
        self.count();
        let seek = self.db.api.iter_seek_for_prev;
        // SAFETY: the iterator lives, and the key is borrowed.
        let back = |iter| unsafe { seek(iter, start.as_ptr().cast(), start.len()) };
        let back = (direction == Direction::Reverse).then_some(back);
        self.client.scan(start, limit, back, rows)?;
        Ok(rows.outcome())
    }
}
