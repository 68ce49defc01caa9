//! LevelDB driver: a library loaded at run time.
//!
//! It uses the C API, links no LevelDB and fetches none (see `supply`). It stands between a library
//! file and the traits of `engine`. `docs/engines/leveldb.md` has what a user needs.
//!
//! The C API's get returns a copy of a copy, in memory to be freed; iterators copy nothing. A
//! `multi_get` is repeated gets. Bytes of the log assume one record per write, up to 19 too many
//! for one that shared its record with another client's.
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

pub use driver::open_library;
