//! LMDB as a system under test, through the crate `heed`, which links LMDB.
//!
//! It is not a general LMDB binding: one unnamed table of bytes to bytes. It stands below
//! `engine`, whose traits it implements; the program's registry names [`driver`] and nothing else.
//!
//! | durability | LMDB | what a commit does |
//! |---|---|---|
//! | `none` | `MDB_NOSYNC`, `MDB_NOMETASYNC` | pages and meta page are written with `write()` |
//! | `os` | the same | the same: nothing weaker exists without `MDB_WRITEMAP` |
//! | `sync` | LMDB's default | `fdatasync()`, then the meta page through an `O_DSYNC` file |
//!
//! Whatever the class, a clean close syncs. One write transaction per put or delete, one read
//! transaction per get, scan and `multi_get`. LMDB's cache is the page cache, so the setting
//! `cache_bytes` has nothing to set, and there are no background threads for `background_jobs`.
//!
//! Invariants: a value goes to [`engine::Rows`] straight from the map; `unsafe` is in `ffi.rs`
//! alone; an option that would break the promise of the durability class is refused.
//! Allocations per operation are heed's and LMDB's own: a transaction, and for a scan a cursor and
//! the copy heed makes of the start key.
//!
//! To add an option, add it to the table in `config.rs`.

mod config;
mod driver;
mod error;
mod ffi;
mod instance;
mod session;

use engine::Driver;

/// Returns the driver of the linked LMDB.
#[must_use]
pub fn driver() -> Box<dyn Driver> {
    Box::new(driver::LmdbDriver)
}
