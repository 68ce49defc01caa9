//! RocksDB driver: any release from 5.18, loaded at run time.
//!
//! It uses the C API, links no RocksDB and fetches none (see `supply`). It stands between a library
//! file and the traits of `engine`. `docs/engines/rocksdb.md` has what a user needs.
//!
//! Options are the engine's own, under its own names. An option inside another is dotted:
//! `block_based_table_factory.block_size`, `compaction_options_universal.size_ratio`. Names that
//! begin with `assay.` are the driver's; `config` lists them. Counters that cost speed
//! (`assay.statistics`, `assay.perf_context`) are off by default.
//!
//! Invariants: one library per process; foreign code is called in the `ffi` files alone; a
//! function the oldest release lacks is optional; numbers in the engine's texts are found by name.
//!
//! To add an option of the driver: a name and a case in `config`. To use a newer C function: a line
//! in the table of `ffi`, and its first release in `feature`.

mod cache;
mod cache_entries;
mod config;
mod driver;
mod events;
mod feature;
mod ffi;
mod ffi_cache;
mod ffi_db;
mod ffi_merge;
mod ffi_perf;
mod ffi_session;
mod instance;
mod merge;
mod perf;
mod provenance;
mod reach;
mod state;
mod statistics;

pub use driver::open_library;
pub use reach::REACH;
