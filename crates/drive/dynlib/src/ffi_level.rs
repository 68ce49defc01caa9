//! The C interface that LevelDB and RocksDB share: batches, iterators, texts.
//!
//! Writes go through one reused batch per client, as in the engines' own benchmarks: their put
//! makes a batch of its own each time. Each scan makes its own iterator: a reused one reads an old
//! snapshot.
//!
//! Source: [LevelDB source] 1.23, `include/leveldb/c.h`; [RocksDB source] `include/rocksdb/c.h`,
//! release tags v5.18.4 to v11.8.1.
#![expect(unsafe_code, reason = "foreign functions are bound and called here")]
#![expect(clippy::allow_attributes, reason = "a table allows what another one needs")]

use std::ffi::{CStr, CString, c_char, c_uchar, c_void};
use std::ptr;

use crate::Owned;
use engine::{CountedRows, EngineError, Result, Rows};
use model::Durability;

crate::handles! { pub Database ReadOptions WriteOptions Batch Iter }

/// Where the library writes its error text; null means success.
pub type ErrorOut = *mut *mut c_char;
/// Text or bytes of the caller's side.
pub type Text = *const c_char;

crate::functions! {
    /// The shared functions of one library.
    pub struct Functions {
        required {
            close: fn(*mut Database);
            free: fn(*mut c_void);
            property_value: fn(*mut Database, Text) -> *mut c_char;
            compact_range: fn(*mut Database, Text, usize, Text, usize);
            readoptions_create: fn() -> *mut ReadOptions;
            readoptions_destroy: fn(*mut ReadOptions);
            writeoptions_create: fn() -> *mut WriteOptions;
            writeoptions_destroy: fn(*mut WriteOptions);
            writeoptions_set_sync: fn(*mut WriteOptions, c_uchar);
            writebatch_create: fn() -> *mut Batch;
            writebatch_destroy: fn(*mut Batch);
            writebatch_clear: fn(*mut Batch);
            writebatch_put: fn(*mut Batch, Text, usize, Text, usize);
            writebatch_delete: fn(*mut Batch, Text, usize);
            write: fn(*mut Database, *const WriteOptions, *mut Batch, ErrorOut);
            create_iterator: fn(*mut Database, *const ReadOptions) -> *mut Iter;
            iter_destroy: fn(*mut Iter);
            iter_valid: fn(*const Iter) -> c_uchar;
            iter_seek: fn(*mut Iter, Text, usize);
            iter_next: fn(*mut Iter);
            iter_prev: fn(*mut Iter);
            iter_key: fn(*const Iter, *mut usize) -> Text;
            iter_value: fn(*const Iter, *mut usize) -> Text;
            iter_get_error: fn(*const Iter, ErrorOut);
        }
    }
}

impl Functions {
    /// Calls a function that reports errors by text, and converts its error.
    ///
    /// # Errors
    /// The library's message; its text is freed.
    #[inline]
    pub fn call<T>(&self, function: impl FnOnce(ErrorOut) -> T) -> Result<T> {
        let mut error: *mut c_char = ptr::null_mut();
        let returned = function(&raw mut error);
        // SAFETY: a function of the library wrote the text, or nothing.
        if error.is_null() { Ok(returned) } else { Err(unsafe { self.take_error(error) }) }
    }

    /// Converts the library's error and frees its text.
    ///
    /// # Safety
    /// `error` is what the library wrote to an [`ErrorOut`].
    #[cold]
    pub unsafe fn take_error(&self, error: *mut c_char) -> EngineError {
        // SAFETY: as this function requires of its caller.
        let text = unsafe { self.take_text(error) };
        let text = text.unwrap_or_else(|| "unknown error".to_owned());
        let starts = |prefix: &str| text.starts_with(prefix);
        // LevelDB has fewer kinds than RocksDB.
        if starts("Resource busy") || starts("Operation failed. Try again") {
            EngineError::Conflict(text)
        } else if starts("Operation timed out") {
            EngineError::Timeout(text)
        } else if starts("Not implemented") {
            EngineError::Unsupported(text)
        } else {
            EngineError::Fatal(text)
        }
    }

    /// Returns a text property; `None` when the library lacks it.
    ///
    /// # Safety
    /// `database` is open in this library.
    pub unsafe fn property(&self, database: *mut Database, name: &str) -> Option<String> {
        let name = CString::new(name).ok()?;
        // SAFETY: the database is open, and the name ends with zero.
        let text = unsafe { (self.property_value)(database, name.as_ptr()) };
        // SAFETY: the library returned the text for its caller to free.
        unsafe { self.take_text(text) }
    }

    /// Copies and frees a text of the library's; `None` when null.
    ///
    /// # Safety
    /// `text` is null, or what the library returned for its caller to free.
    pub unsafe fn take_text(&self, text: *mut c_char) -> Option<String> {
        if text.is_null() {
            return None;
        }
        // SAFETY: the library returns zero-terminated texts, and this one is not null.
        let copy = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        // SAFETY: the library allocated the text for its caller; not used after this.
        unsafe { (self.free)(text.cast()) };
        Some(copy)
    }
}

/// Returns bytes as a text that ends with zero.
///
/// # Errors
/// When they hold a zero.
pub fn c_text(bytes: &[u8]) -> Result<CString> {
    CString::new(bytes).map_err(|_zero_inside| {
        let text = String::from_utf8_lossy(bytes);
        EngineError::Fatal(format!("`{text}` holds a zero byte"))
    })
}

/// Returns no bytes; a cold call, so that the usual case compiles to a branch.
#[cold]
const fn nothing() -> &'static [u8] {
    &[]
}

/// Returns the bytes the library points to.
///
/// # Safety
/// `start` and `bytes` are what the library returned for memory that lives through `'a`.
#[inline]
pub unsafe fn bytes_of<'a>(start: *const c_char, bytes: usize) -> &'a [u8] {
    if bytes == 0 {
        return nothing();
    }
    // SAFETY: as this function requires of its caller.
    unsafe { std::slice::from_raw_parts(start.cast(), bytes) }
}

/// One client's options and batch, owned.
#[derive(Debug)]
pub struct Client<'a> {
    api: &'a Functions,
    database: *mut Database,
    /// Options of reads.
    pub read: Owned<ReadOptions>,
    /// Options of writes.
    pub write: Owned<WriteOptions>,
    batch: Owned<Batch>,
}

impl<'a> Client<'a> {
    /// Returns a client with default options and the class's sync.
    ///
    /// # Safety
    /// `database` is open in the library of `api` for as long as the client lives.
    pub unsafe fn new(api: &'a Functions, database: *mut Database, durability: Durability) -> Self {
        // SAFETY: both functions are of the library of the open database.
        let read = unsafe { Owned::create(api.readoptions_create, api.readoptions_destroy) };
        // SAFETY: as above.
        let write = unsafe { Owned::create(api.writeoptions_create, api.writeoptions_destroy) };
        let is_synced = u8::from(durability == Durability::Sync);
        // SAFETY: `write` was just created.
        unsafe { (api.writeoptions_set_sync)(write.handle, is_synced) };
        // SAFETY: as above.
        let batch = unsafe { Owned::create(api.writebatch_create, api.writebatch_destroy) };
        Self { api, database, read, write, batch }
    }

    /// Writes one row, or deletes it when there is no value.
    ///
    /// # Errors
    /// The engine's message.
    #[inline]
    pub fn write(&self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        let start = key.as_ptr().cast();
        self.write_batch(|batch| match value {
            // SAFETY: the batch is owned; key and value are borrowed, and the library copies them.
            Some(value) => unsafe {
                let from = value.as_ptr().cast();
                (self.api.writebatch_put)(batch, start, key.len(), from, value.len());
            },
            // SAFETY: the batch is owned; the key is borrowed, and the library copies it.
            None => unsafe { (self.api.writebatch_delete)(batch, start, key.len()) },
        })
    }

    /// Writes what `fill` adds to the empty batch.
    ///
    /// # Errors
    /// The engine's message.
    #[inline]
    pub fn write_batch(&self, fill: impl FnOnce(*mut Batch)) -> Result<()> {
        let (database, write, batch) = (self.database, self.write.handle, self.batch.handle);
        // SAFETY: the batch is owned.
        unsafe { (self.api.writebatch_clear)(batch) };
        fill(batch);
        // SAFETY: all three handles live, and `error` is a local of `call`.
        self.api.call(|error| unsafe { (self.api.write)(database, write, batch, error) })
    }

    /// Reads up to `limit` rows from `start` on: forward, or back where there is a `seek_back`.
    ///
    /// `seek_back` moves a new iterator to the last row at or before `start`.
    ///
    /// # Errors
    /// The engine's message.
    pub fn scan(
        &self,
        start: &[u8],
        limit: u32,
        seek_back: Option<impl FnOnce(*mut Iter)>,
        rows: &mut Rows,
    ) -> Result<()> {
        let api = self.api;
        // SAFETY: database and options live; the iterator is destroyed below.
        let iter = unsafe { (api.create_iterator)(self.database, self.read.handle) };
        let step = match seek_back {
            None => {
                // SAFETY: the iterator lives, and the key is borrowed.
                unsafe { (api.iter_seek)(iter, start.as_ptr().cast(), start.len()) };
                api.iter_next
            }
            Some(seek_back) => {
                seek_back(iter);
                api.iter_prev
            }
        };
        let left = if rows.is_storing() {
            self.walk(iter, limit, step, |key, value| rows.push(key, value))
        } else {
            let mut counted = CountedRows::default();
            let left = self.walk(iter, limit, step, |key, value| counted.push(key, value));
            rows.push_counted(limit - left, counted);
            left
        };
        let ended = api.call(|error| {
            if left > 0 {
                // SAFETY: the iterator lives. One that failed is not valid, so it ended the loop.
                unsafe { (api.iter_get_error)(iter, error) };
            }
        });
        // SAFETY: the iterator is owned, and not used after this.
        unsafe { (api.iter_destroy)(iter) };
        ended
    }

    /// Passes up to `limit` rows of a positioned iterator to `row`; returns how many were missing.
    #[inline]
    fn walk(
        &self,
        iter: *mut Iter,
        limit: u32,
        step: unsafe extern "C" fn(*mut Iter),
        mut row: impl FnMut(&[u8], &[u8]),
    ) -> u32 {
        // Copied to locals: through the reference each foreign call would reload them.
        let (valid, key_of) = (self.api.iter_valid, self.api.iter_key);
        let value_of = self.api.iter_value;
        let (mut left, mut key_bytes, mut value_bytes) = (limit, 0, 0);
        if left == 0 {
            return 0;
        }
        // SAFETY: the iterator lives.
        while unsafe { valid(iter) } != 0 {
            // SAFETY: the iterator lives and is valid.
            let key = unsafe { key_of(iter, &raw mut key_bytes) };
            // SAFETY: the iterator lives and is valid.
            let value = unsafe { value_of(iter, &raw mut value_bytes) };
            // SAFETY: the library returned both, and the iterator stays where it is.
            let key = unsafe { bytes_of(key, key_bytes) };
            // SAFETY: the library returned both, and the iterator stays where it is.
            row(key, unsafe { bytes_of(value, value_bytes) });
            left -= 1;
            if left == 0 {
                break;
            }
            // SAFETY: the iterator lives and is valid.
            unsafe { step(iter) };
        }
        left
    }
}
