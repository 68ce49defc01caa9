//! Creates block caches as objects.
#![expect(unsafe_code, reason = "foreign functions are called here")]

use std::ffi::c_void;
use std::ptr;

use dynlib::Owned;
use engine::{EngineError, Result};

use crate::cache::{BLOB_CACHE, CACHE, ObjectCache, Pools};
use crate::ffi::Cache;
use crate::ffi_db::RawOptions;

impl RawOptions {
    /// Sets the block cache, shared with blobs on request.
    pub(crate) fn set_cache(&mut self, wanted: ObjectCache) -> Result<()> {
        let api = self.api;
        let cache = match wanted.pools {
            None => self.hyper_clock(wanted)?,
            Some(pools) => self.lru(wanted, pools)?,
        };
        let (create, destroy) = (api.block_based_options_create, api.block_based_options_destroy);
        // SAFETY: both functions are of one library.
        let table = unsafe { Owned::create(create, destroy) };
        // SAFETY: both were just created; the library shares the ownership of the cache.
        unsafe { (api.block_based_options_set_block_cache)(table.handle, cache) };
        // SAFETY: both live; the library copies the table options.
        unsafe { (api.options_set_block_based_table_factory)(self.handle(), table.handle) };
        if let (true, Some(set_blob_cache)) = (wanted.is_shared, api.options_set_blob_cache) {
            // SAFETY: both live; the library shares the ownership of the cache.
            unsafe { set_blob_cache(self.handle(), cache) };
        }
        // SAFETY: gives up our share of the cache; the options hold theirs.
        unsafe { (api.cache_destroy)(cache) };
        Ok(())
    }

    fn hyper_clock(&self, wanted: ObjectCache) -> Result<*mut Cache> {
        let api = self.api;
        let (Some(create), Some(destroy), Some(set_bits), Some(create_cache)) = (
            api.hyper_clock_cache_options_create,
            api.hyper_clock_cache_options_destroy,
            api.hyper_clock_cache_options_set_num_shard_bits,
            api.cache_create_hyper_clock_opts,
        ) else {
            let reason = "a HyperClock block cache needs RocksDB 8.1";
            return Err(EngineError::capability(CACHE, reason));
        };
        // SAFETY: takes two numbers; the result is destroyed below.
        let options = unsafe { create(wanted.bytes, wanted.entry_bytes) };
        // SAFETY: `options` was just created.
        unsafe { set_bits(options, wanted.shard_bits) };
        // SAFETY: `options` lives; the library copies it.
        let cache = unsafe { create_cache(options) };
        // SAFETY: `options` is not used after this.
        unsafe { destroy(options) };
        Ok(cache)
    }

    /// Creates an LRU with pools where the library can, else with the default ones.
    ///
    /// Only the Java part of an official library takes pools. Its function has a C interface,
    /// ignores its first two arguments, and returns what the C interface's cache is: one shared
    /// pointer, created by `new`. The pools are verified against the LOG.
    /// Source: [RocksDB source] `java/rocksjni/lru_cache.cc`; `db/c.cc`, `rocksdb_cache_t`.
    fn lru(&self, wanted: ObjectCache, (high, low): Pools) -> Result<*mut Cache> {
        let api = self.api;
        if let (Some(create), Ok(bytes)) = (api.java.newLRUCache, i64::try_from(wanted.bytes)) {
            let unused: *mut c_void = ptr::null_mut();
            // SAFETY: takes numbers; the first two arguments are ignored.
            let cache = unsafe { create(unused, unused, bytes, wanted.shard_bits, 0, high, low) };
            return Ok(cache);
        }
        let (Some(create), Some(destroy), Some(set_bytes), Some(set_bits), Some(create_cache)) = (
            api.lru_cache_options_create,
            api.lru_cache_options_destroy,
            api.lru_cache_options_set_capacity,
            api.lru_cache_options_set_num_shard_bits,
            api.cache_create_lru_opts,
        ) else {
            let reason = "a block cache that blobs share needs RocksDB 7.5";
            return Err(EngineError::capability(BLOB_CACHE, reason));
        };
        // SAFETY: both functions are of one library.
        let options = unsafe { Owned::create(create, destroy) };
        // SAFETY: `options` was just created.
        unsafe { set_bytes(options.handle, wanted.bytes) };
        // SAFETY: `options` was just created.
        unsafe { set_bits(options.handle, wanted.shard_bits) };
        // SAFETY: `options` lives; the library copies it.
        Ok(unsafe { create_cache(options.handle) })
    }
}
