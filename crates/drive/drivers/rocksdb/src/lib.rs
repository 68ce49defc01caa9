//! RocksDB, any release from 5.18, through the C API of a library loaded at run time.
//!
//! This crate links no RocksDB and fetches none (see `supply`). It stands between a library file
//! and the traits of `engine`.
//!
//! Options are the engine's own, under its own names. An option inside another is dotted:
//! `block_based_table_factory.block_size`, `compaction_options_universal.size_ratio`. Names that
//! begin with `assay.` are ours; `request` lists them.
//!
//! Invariants: one library per process; foreign code is called in the `ffi` files alone; a
//! function the oldest release lacks is optional; numbers in the engine's texts are found by name.
//!
//! To add an option of ours: a name and a case in `request`. To use a newer C function: a line in
//! the table of `ffi`, and its first release in `feature`.

mod cache;
mod database;
mod driver;
mod events;
mod feature;
mod ffi;
mod ffi_cache;
mod ffi_db;
mod ffi_perf;
mod ffi_session;
mod makeup;
mod perf;
mod provenance;
mod request;
mod statistics;
mod written;

pub use driver::open_library;
