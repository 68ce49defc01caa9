//! Safe wrappers of a database and its options.
#![expect(unsafe_code, reason = "foreign functions are called here")]

use std::ffi::{c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use dynlib::Owned;
use dynlib::level::{self, Database, c_text};
use engine::Result;

use crate::config::{BLOCK_CACHE, BLOOM_BITS, COMPRESSION, Config, PARANOID_CHECKS};
use crate::ffi::{Api, Cache, FilterPolicy, Options};

/// A key behind those of all workloads: the end of the sum of all files.
const LAST: [u8; 16] = [0xff; 16];

/// Options of a database with what they point to, owned.
struct RawOptions {
    api: Api,
    options: Owned<Options>,
    cache: *mut Cache,
    filter: *mut FilterPolicy,
}

impl RawOptions {
    fn new(api: Api, config: &Config) -> Result<Self> {
        // SAFETY: both functions are of one library.
        let options = unsafe { Owned::create(api.options_create, api.options_destroy) };
        let bytes = config.number(BLOCK_CACHE)?;
        // SAFETY: takes a number; the result is owned by the value made here.
        let cache = unsafe { (api.cache_create_lru)(bytes) };
        let filter = match config.number(BLOOM_BITS)? {
            0 => ptr::null_mut(),
            // SAFETY: takes a number; the result is owned by the value made here.
            bits => unsafe { (api.filterpolicy_create_bloom)(bits) },
        };
        let options = Self { api, options, cache, filter };
        options.fill(config)?;
        Ok(options)
    }

    fn fill(&self, config: &Config) -> Result<()> {
        let (api, options) = (&self.api, self.options.handle);
        for (set, value) in [
            (api.options_set_create_if_missing, 1),
            (api.options_set_paranoid_checks, config.switch(PARANOID_CHECKS)),
        ] {
            // SAFETY: the options live.
            unsafe { set(options, value) };
        }
        for (set, name) in [
            (api.options_set_write_buffer_size, "write_buffer_size"),
            (api.options_set_max_file_size, "max_file_size"),
            (api.options_set_block_size, "block_size"),
        ] {
            let bytes = config.number(name)?;
            // SAFETY: the options live.
            unsafe { set(options, bytes) };
        }
        // 0 is none and 1 is snappy.
        let compression = c_int::from(config.0.get(COMPRESSION) == Some("snappy"));
        for (set, value) in [
            (api.options_set_max_open_files, config.number("max_open_files")?),
            (api.options_set_block_restart_interval, config.number("block_restart_interval")?),
            (api.options_set_compression, compression),
        ] {
            // SAFETY: the options live.
            unsafe { set(options, value) };
        }
        // SAFETY: the options live, and the cache as long as they do.
        unsafe { (api.options_set_cache)(options, self.cache) };
        if !self.filter.is_null() {
            // SAFETY: the options live, and the filter as long as they do.
            unsafe { (api.options_set_filter_policy)(options, self.filter) };
        }
        Ok(())
    }
}

impl Drop for RawOptions {
    fn drop(&mut self) {
        // SAFETY: the cache is owned, and the database that used it is closed.
        unsafe { (self.api.cache_destroy)(self.cache) };
        if !self.filter.is_null() {
            // SAFETY: the filter is owned, and the database that used it is closed.
            unsafe { (self.api.filterpolicy_destroy)(self.filter) };
        }
    }
}

/// An open database.
pub(crate) struct Db {
    pub(crate) api: Api,
    pub(crate) level: level::Functions,
    pub(crate) handle: *mut Database,
    /// Dropped after the database is closed: they own its cache and filter.
    _options: RawOptions,
}

// SAFETY: LevelDB's database object may be used from any thread, and its options are not changed.
unsafe impl Send for Db {}
// SAFETY: LevelDB's database object may be used from several threads at once.
unsafe impl Sync for Db {}

impl Db {
    /// Opens the database in `dir`, creating it when absent.
    pub(crate) fn open(
        api: Api,
        level: level::Functions,
        dir: &Path,
        config: &Config,
    ) -> Result<Self> {
        let options = RawOptions::new(api, config)?;
        let dir = c_text(dir.as_os_str().as_bytes())?;
        // SAFETY: the options live, the path ends with zero, and `error` is a local of `call`.
        let open = |error| unsafe { (api.open)(options.options.handle, dir.as_ptr(), error) };
        let handle = level.call(open)?;
        Ok(Self { api, level, handle, _options: options })
    }

    /// Returns a property; empty when the library lacks it.
    pub(crate) fn property(&self, name: &str) -> String {
        // SAFETY: the database is open.
        let text = unsafe { self.level.property(self.handle, &format!("leveldb.{name}")) };
        text.unwrap_or_default()
    }

    /// Returns the bytes of all data files, summed without a lock.
    ///
    /// Exact as long as no key lies behind [`LAST`].
    pub(crate) fn table_bytes(&self) -> u64 {
        let bound: *const c_char = LAST.as_ptr().cast();
        let (bounds, start_bytes, limit_bytes) = ([bound], [0], [LAST.len()]);
        let (bounds, starts, limits) =
            (bounds.as_ptr(), start_bytes.as_ptr(), limit_bytes.as_ptr());
        let (sizes, mut sum) = (self.api.approximate_sizes, 0);
        // SAFETY: each array has the one entry announced, and so has the answer.
        unsafe { sizes(self.handle, 1, bounds, starts, bounds, limits, &raw mut sum) };
        sum
    }

    /// Flushes the memtable and waits for it.
    ///
    /// Compacts the range of the empty key: LevelDB flushes before it searches the range for files.
    pub(crate) fn flush(&self) {
        let empty = LAST.as_ptr().cast();
        // SAFETY: the database is open; both bounds are given and have no bytes.
        unsafe { (self.level.compact_range)(self.handle, empty, 0, empty, 0) };
    }

    /// Compacts everything and waits for it.
    pub(crate) fn compact_all(&self) {
        // SAFETY: the database is open; null bounds mean the whole key space.
        unsafe { (self.level.compact_range)(self.handle, ptr::null(), 0, ptr::null(), 0) };
    }
}

impl Drop for Db {
    fn drop(&mut self) {
        // SAFETY: the handle is owned, and sessions that use it borrow the database.
        unsafe { (self.level.close)(self.handle) };
    }
}
