//! Bindings of the C functions of a LevelDB library.
//!
//! They are resolved by name at run time. Only the `ffi` files of this driver call foreign code and
//! offer it as safe functions.
//!
//! Source: [LevelDB source] 1.23, `include/leveldb/c.h`.
#![expect(unsafe_code, reason = "foreign functions are bound and called here")]

use std::ffi::{c_char, c_int};

use dynlib::level::{Database, ErrorOut, Iter, ReadOptions, Text};

dynlib::handles! { pub(crate) Options Cache FilterPolicy }

dynlib::functions! {
    /// The functions of one library, less those that RocksDB has too.
    pub(crate) struct Api {
        required {
            open: fn(*const Options, Text, ErrorOut) -> *mut Database;
            major_version: fn() -> c_int;
            minor_version: fn() -> c_int;
            approximate_sizes: fn(
                *mut Database, c_int, *const Text, *const usize, *const Text, *const usize,
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
            readoptions_set_verify_checksums: fn(*mut ReadOptions, u8);
            get: fn(
                *mut Database, *const ReadOptions, Text, usize, *mut usize, ErrorOut
            ) -> *mut c_char;
            iter_seek_to_last: fn(*mut Iter);
        }
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
}
