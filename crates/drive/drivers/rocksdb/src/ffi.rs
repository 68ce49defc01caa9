//! Bindings of the C functions of a RocksDB library.
//!
//! They are resolved by name at run time. Only the `ffi` files of this driver call foreign code and
//! offer it as safe functions. A signature here must hold for every release in the table below:
//! functions whose signature changed are replaced by option strings or not used.
//!
//! Source: [RocksDB source] `include/rocksdb/c.h`, release tags v5.18.4 to v11.8.1.

use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::ops::Deref;
use std::path::Path;
use std::sync::OnceLock;

use dynlib::level::{self, Batch, Database, ErrorOut, Iter, ReadOptions, Text, WriteOptions};
use dynlib::{Loaded, load_once};
use engine::Result;

dynlib::handles! {
    pub(crate) OptionsHandle FlushOptions TableOptions Pinned Cache HyperClockOptions LruOptions
    Family PerfHandle MergeOperator
}

/// Releases the operator's state.
pub(crate) type Destructor = extern "C" fn(*mut c_void);
/// Returns the value of a key, its base (null when absent) and the operands, oldest first.
pub(crate) type FullMerge = extern "C" fn(
    *mut c_void,
    Text,
    usize,
    Text,
    usize,
    *const Text,
    *const usize,
    c_int,
    &mut c_uchar,
    &mut usize,
) -> *mut c_char;
/// Returns one operand for several of a key, oldest first.
pub(crate) type PartialMerge = extern "C" fn(
    *mut c_void,
    Text,
    usize,
    *const Text,
    *const usize,
    c_int,
    &mut c_uchar,
    &mut usize,
) -> *mut c_char;
/// Frees what a merge returned.
pub(crate) type DeleteValue = extern "C" fn(*mut c_void, *const c_char, usize);
/// Returns the operator's name, which is stored with the database.
pub(crate) type NameOf = extern "C" fn(*mut c_void) -> Text;

dynlib::functions! {
    /// The functions of one library.
    pub(crate) struct Functions {
        required {
            open: fn(*const OptionsHandle, Text, ErrorOut) -> *mut Database;
            open_column_families: fn(
                *const OptionsHandle, Text, c_int, *const Text, *const *const OptionsHandle,
                *mut *mut Family, ErrorOut
            ) -> *mut Database;
            column_family_handle_destroy: fn(*mut Family);
            options_create: fn() -> *mut OptionsHandle;
            options_destroy: fn(*mut OptionsHandle);
            options_set_merge_operator: fn(*mut OptionsHandle, *mut MergeOperator);
            mergeoperator_create: fn(
                *mut c_void, Destructor, FullMerge, PartialMerge, DeleteValue, NameOf
            ) -> *mut MergeOperator;
            writebatch_merge: fn(*mut Batch, Text, usize, Text, usize);
            options_enable_statistics: fn(*mut OptionsHandle);
            options_statistics_get_string: fn(*mut OptionsHandle) -> *mut c_char;
            options_set_block_based_table_factory: fn(*mut OptionsHandle, *mut TableOptions);
            get_options_from_string: fn(*const OptionsHandle, Text, *mut OptionsHandle, ErrorOut);
            block_based_options_create: fn() -> *mut TableOptions;
            block_based_options_destroy: fn(*mut TableOptions);
            block_based_options_set_block_cache: fn(*mut TableOptions, *mut Cache);
            cache_destroy: fn(*mut Cache);
            set_options: fn(*mut Database, c_int, *const Text, *const Text, ErrorOut);
            set_perf_level: fn(c_int);
            perfcontext_create: fn() -> *mut PerfHandle;
            perfcontext_destroy: fn(*mut PerfHandle);
            perfcontext_reset: fn(*mut PerfHandle);
            perfcontext_metric: fn(*mut PerfHandle, c_int) -> u64;
            property_int: fn(*mut Database, Text, *mut u64) -> c_int;
            flushoptions_create: fn() -> *mut FlushOptions;
            flushoptions_destroy: fn(*mut FlushOptions);
            flush: fn(*mut Database, *const FlushOptions, ErrorOut);
            readoptions_set_total_order_seek: fn(*mut ReadOptions, c_uchar);
            writeoptions_disable_WAL: fn(*mut WriteOptions, c_int);
            get_pinned: fn(*mut Database, *const ReadOptions, Text, usize, ErrorOut) -> *mut Pinned;
            pinnableslice_value: fn(*const Pinned, *mut usize) -> Text;
            pinnableslice_destroy: fn(*mut Pinned);
            multi_get: fn(
                *mut Database, *const ReadOptions, usize, *const Text, *const usize,
                *mut *mut c_char, *mut usize, ErrorOut
            );
            iter_seek_for_prev: fn(*mut Iter, Text, usize);
        }
        optional {
            batched_multi_get_cf: fn(
                *mut Database, *const ReadOptions, *mut Family, usize, *const Text, *const usize,
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
    pub(crate) struct JavaLru {
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
    /// Those that LevelDB has too.
    pub(crate) level: level::Functions,
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

impl Api {
    /// Loads the library at `path`, or returns it when this process already holds it.
    pub(crate) fn load(path: &Path) -> Result<&'static Self> {
        static API: OnceLock<Api> = OnceLock::new();
        let loaded = load_once(path)?;
        let (library, prefix) = (&loaded.library, "rocksdb_");
        let unusable = |symbol: String| loaded.lacks(&symbol, "rocksdb_open", "RocksDB", "5.18");
        let functions = Functions::bind(library, prefix).map_err(unusable)?;
        let level = level::Functions::bind(library, prefix).map_err(unusable)?;
        let java = JavaLru::bind(library, "Java_org_rocksdb_LRUCache_").map_err(unusable)?;
        Ok(API.get_or_init(|| Self { functions, level, java, loaded }))
    }

    /// Returns whether the library has a function of that name.
    pub(crate) fn has(&self, symbol: &str) -> bool {
        self.loaded.has(symbol)
    }
}
