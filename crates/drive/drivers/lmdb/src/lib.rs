//! LMDB driver: the linked LMDB, or a library of 0.9.
//!
//! It is not a general LMDB binding: one unnamed table of bytes to bytes. It stands below `engine`,
//! whose traits it implements; the program's registry names [`driver()`] and [`open_library`] only.
//! Both fill one table of C functions, so all other code is shared. The linked one is of the branch
//! mdb.master, which reports 0.9.70.
//!
//! | durability | LMDB | what a commit does |
//! |---|---|---|
//! | `none` | `MDB_NOSYNC`, `MDB_NOMETASYNC` | pages and meta page are written with `write()` |
//! | `os` | the same | the same: nothing weaker exists without `MDB_WRITEMAP` |
//! | `sync` | LMDB's default | `fdatasync()`, then the meta page through an `O_DSYNC` file |
//!
//! Whatever the class, a clean close syncs. One write transaction per put or delete, one read
//! transaction per get, scan and `multi_get`. LMDB's cache is the page cache, so the setting
//! `cache_bytes` has no effect, and there are no background threads for `background_jobs`.
//!
//! Each session holds a reader slot: its read transaction is reset after an operation and renewed
//! for the next one, which then reads everything committed before. Opening one directory twice in a
//! process breaks LMDB's locks; the driver does not check for it.
//!
//! Invariants: a value goes to [`engine::Rows`] straight from the map; `unsafe` is in the `ffi`
//! files alone; an option that would break the guarantee of the durability class is refused.
//! Allocations per operation are LMDB's own, for writes.
//!
//! To add an option, add it to the table in `config.rs`.

mod config;
mod driver;
mod ffi;
mod ffi_env;
mod identity;
mod instance;
mod session;

pub use driver::{driver, open_library};
