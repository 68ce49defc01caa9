//! LMDB as a system under test: the linked one, or any library of 0.9, loaded at run time.
//!
//! It is not a general LMDB binding: one unnamed table of bytes to bytes. It stands below
//! `engine`, whose traits it implements; the program's registry names [`driver()`] and
//! [`open_library`], and nothing else. Both fill one table of C functions, so all else is the same
//! code. The linked one is of the branch mdb.master, which calls itself 0.9.70.
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
//! Each session keeps a reader slot: its reading transaction is reset after an operation and
//! renewed for the next one, which then sees all that was committed before it. Whoever opens one
//! directory twice in a process breaks LMDB's locks; the driver does not look for it.
//!
//! Invariants: a value goes to [`engine::Rows`] straight from the map; `unsafe` is in the `ffi`
//! files alone; an option that would break the promise of the durability class is refused.
//! Allocations per operation are LMDB's own, for writes.
//!
//! To add an option, add it to the table in `config.rs`.

mod config;
mod driver;
mod error;
mod ffi;
mod ffi_env;
mod instance;
mod session;

pub use driver::{driver, open_library};
