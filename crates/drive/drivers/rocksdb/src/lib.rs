//! RocksDB driver: any release from 5.18, loaded at run time.
//!
//! It uses the C API, links no RocksDB and fetches none (see `supply`). It stands between a library
//! file and the traits of `engine`.
//!
//! Options are the engine's own, under its own names. An option inside another is dotted:
//! `block_based_table_factory.block_size`, `compaction_options_universal.size_ratio`. Names that
//! begin with `assay.` are the driver's; `config` lists them.
//!
//! | durability | RocksDB | what a write does |
//! |---|---|---|
//! | `none` | `disableWAL` | goes to the memtable; a clean close flushes it |
//! | `os` | the default | is appended to the log by `write()`, never synced |
//! | `sync` | `sync` | the same, then the log is synced |
//!
//! Always reported: exact bytes put, flushed, compacted, written to log and blob files (`written`,
//! `events`); stalls; levels, debt, jobs; memory of memtables; the block cache by kind of entry
//! (`cache_entries`, from 6.29); blob files, their bytes and garbage; and under the engine's own
//! names the usage of the block cache and the blob cache. With `assay.statistics = on`: hits,
//! misses and all of the engine's tickers. With `assay.perf_context = on`: block lookups and reads
//! of the clients' operations, key comparisons, skipped keys, filters (`perf`). That costs, in
//! instructions counted by callgrind with rows of 120 bytes in the cache (7.8.3): 5 % of a point
//! read and of a range of ten rows, 18 % of a put. So it is off by default, and then costs three
//! instructions.
//!
//! Caches (`cache`): `assay.cache = lru | hyper_clock` (8.1), with pools by
//! `assay.cache_high_priority_share` and `assay.cache_low_priority_share` (7.6) of an LRU, and
//! `assay.blob_cache = none | shared | SIZE` (7.4). No C function sets the pools of a
//! shared cache; the Java part of official libraries does (`ffi_cache`), others have pools of 0.5
//! and 0 only. Pools are verified against the LOG.
//!
//! Pitfalls: a block larger than its cache shard is never cached; a HyperClock cache has no pools;
//! official libraries compute crc32c in software (`fast_crc32` in the build's facts), so the option
//! `checksum` (`kCRC32c`, `kxxHash64`; `kXXH3` from 6.27) changes their read performance.
//!
//! Invariants: one library per process; foreign code is called in the `ffi` files alone; a
//! function the oldest release lacks is optional; numbers in the engine's texts are found by name.
//!
//! To add an option of the driver: a name and a case in `config`. To use a newer C function: a line
//! in the table of `ffi`, and its first release in `feature`.

mod activity;
mod cache;
mod cache_entries;
mod config;
mod driver;
mod events;
mod feature;
mod ffi;
mod ffi_cache;
mod ffi_db;
mod ffi_perf;
mod ffi_session;
mod instance;
mod perf;
mod provenance;
mod state;
mod statistics;
mod written;

pub use driver::open_library;
