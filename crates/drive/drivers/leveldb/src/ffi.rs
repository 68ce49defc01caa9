//! Bindings of the C functions of a LevelDB library.
//!
//! They are resolved by name at run time. Only the `ffi` files of this driver call foreign code and
//! offer it as safe functions.
//!
//! Source: [LevelDB source] 1.23, `include/leveldb/c.h`.
#![expect(unsafe_code, reason = "foreign functions are bound and called here")]

use std::ffi::{CStr, c_char, c_int, c_void};

use engine::EngineError;

/// Declares opaque handles.
macro_rules! handles {
    ($($name:ident)*) => { $(
        #[repr(C)]
        pub(crate) struct $name { _opaque: [u8; 0] }
    )* };
}

handles! { DbHandle Options ReadOptions WriteOptions Batch Iter Cache FilterPolicy }

/// Where the library writes its error text; null means success.
type ErrorOut = *mut *mut c_char;
/// Text or bytes of the caller's side.
type Text = *const c_char;

dynlib::functions! {
    /// The functions of one library.
    #[derive(Clone, Copy)]
    pub(crate) struct Api prefix "leveldb_" {
        required {
            open: fn(*const Options, Text, ErrorOut) -> *mut DbHandle;
            close: fn(*mut DbHandle);
            free: fn(*mut c_void);
            major_version: fn() -> c_int;
            minor_version: fn() -> c_int;
            property_value: fn(*mut DbHandle, Text) -> *mut c_char;
            compact_range: fn(*mut DbHandle, Text, usize, Text, usize);
            approximate_sizes: fn(
                *mut DbHandle, c_int, *const Text, *const usize, *const Text, *const usize,
                *mut u64
            );
            options_create: fn() -> *mut Options;
            options_destroy: fn(*mut Options);
            options_set_create_if_missing: fn(*mut Options, u8);
            options_set_paranoid_checks: fn(*mut Options, u8);
            options_set_write_buffer_size: fn(*mut Options, usize);
            options_set_max_open_files: fn(*mut Options, c_int);
            options_set_max_file_size: fn(*mut Options, usize);
            options_set_block_size: fn(*mut Options, usize);
            options_set_block_restart_interval: fn(*mut Options, c_int);
            options_set_compression: fn(*mut Options, c_int);
            options_set_cache: fn(*mut Options, *mut Cache);
            options_set_filter_policy: fn(*mut Options, *mut FilterPolicy);
            cache_create_lru: fn(usize) -> *mut Cache;
            cache_destroy: fn(*mut Cache);
            filterpolicy_create_bloom: fn(c_int) -> *mut FilterPolicy;
            filterpolicy_destroy: fn(*mut FilterPolicy);
            readoptions_create: fn() -> *mut ReadOptions;
            readoptions_destroy: fn(*mut ReadOptions);
            readoptions_set_verify_checksums: fn(*mut ReadOptions, u8);
            writeoptions_create: fn() -> *mut WriteOptions;
            writeoptions_destroy: fn(*mut WriteOptions);
            writeoptions_set_sync: fn(*mut WriteOptions, u8);
            get: fn(
                *mut DbHandle, *const ReadOptions, Text, usize, *mut usize, ErrorOut
            ) -> *mut c_char;
            writebatch_create: fn() -> *mut Batch;
            writebatch_destroy: fn(*mut Batch);
            writebatch_clear: fn(*mut Batch);
            writebatch_put: fn(*mut Batch, Text, usize, Text, usize);
            writebatch_delete: fn(*mut Batch, Text, usize);
            write: fn(*mut DbHandle, *const WriteOptions, *mut Batch, ErrorOut);
            create_iterator: fn(*mut DbHandle, *const ReadOptions) -> *mut Iter;
            iter_destroy: fn(*mut Iter);
            iter_valid: fn(*const Iter) -> u8;
            iter_seek: fn(*mut Iter, Text, usize);
            iter_seek_to_last: fn(*mut Iter);
            iter_next: fn(*mut Iter);
            iter_prev: fn(*mut Iter);
            iter_key: fn(*const Iter, *mut usize) -> Text;
            iter_value: fn(*const Iter, *mut usize) -> Text;
            iter_get_error: fn(*const Iter, ErrorOut);
        }
        optional {}
    }
}

impl Api {
    /// Returns the release as the library reports it.
    pub(crate) fn version(&self) -> String {
        // SAFETY: takes nothing and returns a number.
        let major = unsafe { (self.major_version)() };
        // SAFETY: takes nothing and returns a number.
        let minor = unsafe { (self.minor_version)() };
        format!("{major}.{minor}")
    }

    /// Returns `Ok` when `error` is null, else the library's error, whose text is freed.
    #[inline]
    pub(crate) fn check(&self, error: *mut c_char) -> Result<(), EngineError> {
        if error.is_null() { Ok(()) } else { Err(self.take_error(error)) }
    }

    #[cold]
    fn take_error(&self, error: *mut c_char) -> EngineError {
        let text = self.take_text(error).unwrap_or_else(|| "unknown error".to_owned());
        if text.starts_with("Not implemented") {
            return EngineError::Unsupported(text);
        }
        EngineError::Fatal(text)
    }

    /// Copies a text that the library allocated and frees it; `None` when it is null.
    pub(crate) fn take_text(&self, text: *mut c_char) -> Option<String> {
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

/// Returns the bytes the library points to.
///
/// # Safety
/// `start` and `bytes` are what the library returned for memory that lives through `'a`.
#[inline]
pub(crate) unsafe fn bytes_of<'a>(start: *const c_char, bytes: usize) -> &'a [u8] {
    if bytes == 0 {
        return &[];
    }
    // SAFETY: as this function requires of its caller.
    unsafe { std::slice::from_raw_parts(start.cast(), bytes) }
}
