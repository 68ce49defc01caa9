//! SQLite as a system under test: the linked one, or any library of it, loaded at run time.
//!
//! It is not an SQL driver: one table of keys and values, with one prepared statement per kind of
//! operation. It stands below `engine`, whose traits it implements; the program's registry names
//! [`driver()`] and [`open_library`], and nothing else. Both fill one table of C functions, so all
//! else is the same code.
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
//! cache when it sees that another one has written. In class `none` a writer keeps readers out and
//! the other way round, in classes `os` and `sync` only writers wait for one another; who waits
//! sleeps in SQLite's own busy handler, 1 ms at first and up to 100 ms. A checkpoint runs in the
//! client whose commit fills the WAL. SQLite has no background threads for `background_jobs`.
//!
//! Traps of other builds: one without `dbstat` does not tell the height of its tree; counters of
//! one without `sqlite3_db_status64` have 31 bits, so they are taken often; Debian's zeroes what is
//! deleted (`secure_delete`) unless that option says off, and has no lookaside memory.
//!
//! Invariants: values go to [`engine::Rows`] straight from the page or SQLite's overflow buffer,
//! and SQLite reads keys and values where the client has them; `unsafe` is in the `ffi` files
//! alone; an option that would break the promise of the durability class is refused. Allocations
//! per operation are SQLite's own.
//!
//! To add an option, add the pragma to the table in `config.rs`.

mod config;
mod connection;
mod driver;
mod error;
mod ffi;
mod ffi_connection;
mod instance;
mod session;
mod tally;

pub use driver::{driver, open_library};
