//! Bindings of the C functions of a RocksDB library.
//!
//! They are resolved by name at run time. Only the `ffi` files of this driver call foreign code and
//! offer it as safe functions. A signature here must hold for every release in the table below:
//! functions whose signature changed are replaced by option strings or not used.
//!
//! Source: [RocksDB source] `include/rocksdb/c.h`, release tags v5.18.4 to v11.8.1.
#![expect(unsafe_code, reason = "foreign functions are bound and called here")]

use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};
use std::ops::Deref;
use std::path::Path;
use std::sync::OnceLock;

use dynlib::{Loaded, load_once};
use engine::EngineError;

/// Declares opaque handles.
macro_rules! handles {
    ($($name:ident)*) => { $(
        #[repr(C)]
        pub(crate) struct $name { _opaque: [u8; 0] }
    )* };
}

handles! {
    DbHandle OptionsHandle ReadOptions WriteOptions FlushOptions TableOptions Batch Iter Pinned
    Cache HyperClockOptions LruOptions Family PerfHandle
}

/// Where the library writes its error text; null means success.
pub(crate) type ErrorOut = *mut *mut c_char;
/// Text of the library's side.
type Text = *const c_char;

dynlib::functions! {
    /// The functions of one library.
    pub(crate) struct Functions prefix "rocksdb_" {
        required {
            open: fn(*const OptionsHandle, Text, ErrorOut) -> *mut DbHandle;
            open_column_families: fn(
                *const OptionsHandle, Text, c_int, *const Text, *const *const OptionsHandle,
                *mut *mut Family, ErrorOut
            ) -> *mut DbHandle;
            close: fn(*mut DbHandle);
            column_family_handle_destroy: fn(*mut Family);
            free: fn(*mut c_void);
            options_create: fn() -> *mut OptionsHandle;
            options_destroy: fn(*mut OptionsHandle);
            options_set_create_if_missing: fn(*mut OptionsHandle, c_uchar);
            options_enable_statistics: fn(*mut OptionsHandle);
            options_statistics_get_string: fn(*mut OptionsHandle) -> *mut c_char;
            options_set_block_based_table_factory: fn(*mut OptionsHandle, *mut TableOptions);
            get_options_from_string: fn(*const OptionsHandle, Text, *mut OptionsHandle, ErrorOut);
            block_based_options_create: fn() -> *mut TableOptions;
            block_based_options_destroy: fn(*mut TableOptions);
            block_based_options_set_block_cache: fn(*mut TableOptions, *mut Cache);
            cache_destroy: fn(*mut Cache);
            set_options: fn(*mut DbHandle, c_int, *const Text, *const Text, ErrorOut);
            set_perf_level: fn(c_int);
            perfcontext_create: fn() -> *mut PerfHandle;
            perfcontext_destroy: fn(*mut PerfHandle);
            perfcontext_reset: fn(*mut PerfHandle);
            perfcontext_metric: fn(*mut PerfHandle, c_int) -> u64;
            property_value: fn(*mut DbHandle, Text) -> *mut c_char;
            property_int: fn(*mut DbHandle, Text, *mut u64) -> c_int;
            flushoptions_create: fn() -> *mut FlushOptions;
            flushoptions_destroy: fn(*mut FlushOptions);
            flushoptions_set_wait: fn(*mut FlushOptions, c_uchar);
            flush: fn(*mut DbHandle, *const FlushOptions, ErrorOut);
            compact_range: fn(*mut DbHandle, Text, usize, Text, usize);
            readoptions_create: fn() -> *mut ReadOptions;
            readoptions_destroy: fn(*mut ReadOptions);
            readoptions_set_total_order_seek: fn(*mut ReadOptions, c_uchar);
            writeoptions_create: fn() -> *mut WriteOptions;
            writeoptions_destroy: fn(*mut WriteOptions);
            writeoptions_set_sync: fn(*mut WriteOptions, c_uchar);
            writeoptions_disable_WAL: fn(*mut WriteOptions, c_int);
            get_pinned: fn(*mut DbHandle, *const ReadOptions, Text, usize, ErrorOut) -> *mut Pinned;
            pinnableslice_value: fn(*const Pinned, *mut usize) -> Text;
            pinnableslice_destroy: fn(*mut Pinned);
            multi_get: fn(
                *mut DbHandle, *const ReadOptions, usize, *const Text, *const usize,
                *mut *mut c_char, *mut usize, ErrorOut
            );
            writebatch_create: fn() -> *mut Batch;
            writebatch_destroy: fn(*mut Batch);
            writebatch_clear: fn(*mut Batch);
            writebatch_put: fn(*mut Batch, Text, usize, Text, usize);
            writebatch_delete: fn(*mut Batch, Text, usize);
            write: fn(*mut DbHandle, *const WriteOptions, *mut Batch, ErrorOut);
            create_iterator: fn(*mut DbHandle, *const ReadOptions) -> *mut Iter;
            iter_destroy: fn(*mut Iter);
            iter_valid: fn(*const Iter) -> c_uchar;
            iter_seek: fn(*mut Iter, Text, usize);
            iter_seek_for_prev: fn(*mut Iter, Text, usize);
            iter_next: fn(*mut Iter);
            iter_prev: fn(*mut Iter);
            iter_key: fn(*const Iter, *mut usize) -> Text;
            iter_value: fn(*const Iter, *mut usize) -> Text;
            iter_get_error: fn(*const Iter, ErrorOut);
        }
        optional {
            batched_multi_get_cf: fn(
                *mut DbHandle, *const ReadOptions, *mut Family, usize, *const Text, *const usize,
                *mut *mut Pinned, ErrorOut, bool
            );
            hyper_clock_cache_options_create: fn(usize, usize) -> *mut HyperClockOptions;
            hyper_clock_cache_options_destroy: fn(*mut HyperClockOptions);
            hyper_clock_cache_options_set_num_shard_bits: fn(*mut HyperClockOptions, c_int);
            cache_create_hyper_clock_opts: fn(*const HyperClockOptions) -> *mut Cache;
            lru_cache_options_create: fn() -> *mut LruOptions;
            lru_cache_options_destroy: fn(*mut LruOptions);
            lru_cache_options_set_capacity: fn(*mut LruOptions, usize);
            lru_cache_options_set_num_shard_bits: fn(*mut LruOptions, c_int);
            cache_create_lru_opts: fn(*const LruOptions) -> *mut Cache;
            options_set_blob_cache: fn(*mut OptionsHandle, *mut Cache);
        }
    }
}

dynlib::functions! {
    /// Functions of the official libraries' Java part; they need no JVM.
    pub(crate) struct JavaLru prefix "Java_org_rocksdb_LRUCache_" {
        required {}
        optional {
            newLRUCache: fn(
                *mut c_void, *mut c_void, i64, c_int, c_uchar, f64, f64
            ) -> *mut Cache;
        }
    }
}

/// One library and its functions.
pub(crate) struct Api {
    functions: Functions,
    /// Its Java part's LRU constructor.
    pub(crate) java: JavaLru,
    /// The library itself.
    pub(crate) loaded: &'static Loaded,
}

impl Deref for Api {
    type Target = Functions;

    #[inline]
    fn deref(&self) -> &Functions {
        &self.functions
    }
}

/// The functions of the one library a process takes.
static API: OnceLock<Api> = OnceLock::new();

impl Api {
    /// Loads the library at `path`, or returns it when this process already holds it.
    ///
    /// # Errors
    /// When another library is held, the loader refuses the file, or it is no usable RocksDB.
    pub(crate) fn load(path: &Path) -> Result<&'static Self, EngineError> {
        let loaded = load_once(path)?;
        let unusable = |symbol| loaded.lacks(symbol, "rocksdb_open", "RocksDB", "5.18");
        let functions = Functions::bind(&loaded.library).map_err(unusable)?;
        let java = JavaLru::bind(&loaded.library).map_err(unusable)?;
        Ok(API.get_or_init(|| Self { functions, java, loaded }))
    }

    /// Returns whether the library has a function of that name.
    pub(crate) fn has(&self, symbol: &str) -> bool {
        self.loaded.has(symbol)
    }

    /// Converts the library's error and frees its text.
    ///
    /// `error` is what the library wrote to an [`ErrorOut`], not null.
    #[cold]
    pub(crate) fn take_error(&self, error: *mut c_char) -> EngineError {
        classify(self.take_text(error).unwrap_or_else(|| "unknown error".to_owned()))
    }

    /// Returns `Ok` when `error` is null, else the library's error.
    #[inline]
    pub(crate) fn check(&self, error: *mut c_char) -> Result<(), EngineError> {
        if error.is_null() { Ok(()) } else { Err(self.take_error(error)) }
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

/// Classifies a RocksDB status text.
fn classify(text: String) -> EngineError {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| text.starts_with(prefix));
    if starts(&["Resource busy", "Operation failed. Try again"]) {
        EngineError::Conflict(text)
    } else if starts(&["Operation timed out"]) {
        EngineError::Timeout(text)
    } else if starts(&["Not implemented"]) {
        EngineError::Unsupported(text)
    } else {
        EngineError::Fatal(text)
    }
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
pub(crate) unsafe fn bytes_of<'a>(start: *const c_char, bytes: usize) -> &'a [u8] {
    if bytes == 0 {
        return nothing();
    }
    // SAFETY: as this function requires of its caller.
    unsafe { std::slice::from_raw_parts(start.cast(), bytes) }
}
