//! LevelDB driver: a library loaded at run time.
//!
//! It uses the C API, links no LevelDB and fetches none (see `supply`). It stands between a library
//! file and the traits of `engine`.
//!
//! | durability | LevelDB | what a write does |
//! |---|---|---|
//! | `none` | `sync = false` | the same as `os`: there is no switch for the log |
//! | `os` | `sync = false` | is appended to the log with `write()` |
//! | `sync` | `sync = true` | the same, then `fdatasync()` of the log |
//!
//! A clean close syncs nothing: what is in the memtable stays in the log, and is replayed.
//!
//! Counters: bytes of flushes and compactions are exact, from the lines of the engine's own `LOG`;
//! bytes read by compaction and the size of each level come from `leveldb.stats`, which rounds
//! every level to a MiB; data files are summed by the engine. Bytes of the log assume
//! one record per write, up to 19 too many for one that shared its record with another client's.
//! LevelDB counts no cache hits, and reports cache and memtables only as one sum (in the statistics
//! text).
//!
//! Pitfalls:
//!
//! - The C API's get returns a copy of a copy, in memory to be freed; iterators copy nothing. A
//!   `multi_get` is repeated gets.
//! - Reads do not verify checksums unless `verify_checksums = true`; RocksDB always does.
//! - Snappy is on by default, and silently off in a library without it: the driver reports it.
//! - A number out of LevelDB's bounds is silently replaced by the bound: the driver refuses it.
//! - One background thread does everything, whatever `background_jobs` allows; from 8 files in
//!   level 0 on each write sleeps 1 ms, from 12 on writers wait. The waits are counted, the
//!   sleeps are not, so `engine_stalls` is not known.
//! - The first 1000 tables are read through memory maps, so there is no direct IO.
//! - Reads can start compactions ("seek compaction").
//! - The C API flushes no memtable: `Flush` compacts an empty range, which does.
//!
//! Invariants: one library per process; foreign code is called in the `ffi` files alone; an
//! iterator reads one snapshot, so each scan has its own.
//!
//! To add an option, add it to the tables in `config.rs`.

mod config;
mod driver;
mod events;
mod ffi;
mod ffi_db;
mod ffi_session;
mod instance;
mod statistics;
mod written;

pub use driver::open_library;
