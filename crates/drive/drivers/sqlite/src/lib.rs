//! SQLite driver: the linked SQLite, or a loaded library.
//!
//! It is not an SQL driver: one table of keys and values, with one prepared statement per kind of
//! operation. It stands below `engine`, whose traits it implements; the program's registry names
//! [`driver()`] and [`open_library`] only. Both fill one table of C functions, so all other code is
//! shared.
//!
//! | durability | SQLite | what a commit does |
//! |---|---|---|
//! | `none` | `journal_mode=off`, `synchronous=off` | pages go to the file; a crash may ruin it |
//! | `os` | `journal_mode=wal`, `synchronous=off` | pages are appended to the WAL, never synced |
//! | `sync` | `journal_mode=wal`, `synchronous=full` | the same, then the WAL is synced |
//!
//! Whatever the class, a clean close syncs. Each operation is its own transaction; a `multi_get` is
//! one read transaction of repeated gets, so the shared-memory locks of the WAL are taken once.
//!
//! Each session has a connection of its own, and in SQLite the cache belongs to the connection:
//! the setting `cache_bytes` becomes `cache_size` of **each** client, and a connection drops its
//! cache after a write by another one. In class `none` a writer blocks readers and readers block a
//! writer; in classes `os` and `sync` only writers block one another. A blocked client sleeps in
//! SQLite's own busy handler, 1 ms at first and up to 100 ms. A checkpoint runs in the
//! client whose commit fills the WAL. SQLite has no background threads for `background_jobs`.
//!
//! Pitfalls of other builds: one without `dbstat` reports no tree height; counters of one without
//! `sqlite3_db_status64` have 31 bits, so they are reset often; Debian's overwrites deleted data
//! with zeroes (`secure_delete`) unless that option is off, and has no lookaside memory.
//!
//! Invariants: values go to [`engine::Rows`] straight from the page or SQLite's overflow buffer,
//! and SQLite reads keys and values from the client's memory; `unsafe` is in the `ffi` files
//! alone; an option that would break the guarantee of the durability class is refused. Allocations
//! per operation are SQLite's own.
//!
//! To add an option, add the pragma to the table in `config.rs`.

mod config;
mod connection;
mod driver;
mod error;
mod ffi;
mod ffi_connection;
mod identity;
mod instance;
mod session;
mod statistics;

pub use driver::{driver, open_library};
