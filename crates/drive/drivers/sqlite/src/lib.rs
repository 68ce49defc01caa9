//! SQLite driver: the linked SQLite, or a loaded library.
//!
//! It is not an SQL driver: one table of keys and values, with one prepared statement per kind of
//! operation. It stands below `engine`, whose traits it implements. The linked SQLite and a loaded
//! one fill one table of C functions, so all other code is shared. `docs/engines/sqlite.md` has
//! what a user needs.
//!
//! Each operation is its own transaction; a `multi_get` is one read transaction of repeated gets,
//! so the shared-memory locks of the WAL are taken once. Each session has a connection of its own,
//! and in SQLite the cache belongs to the connection. In class `none` a writer blocks readers and
//! readers block a writer; in classes `os` and `sync` only writers block one another. A blocked
//! client sleeps in SQLite's own busy handler.
//!
//! Invariants: values go to [`engine::Rows`] straight from the page or SQLite's overflow buffer,
//! and SQLite reads keys and values from the client's memory; `unsafe` is in the `ffi` files
//! alone; an option that would break the guarantee of the durability class is refused.
//!
//! To add an option, add the pragma to the table in `config.rs`.

mod config;
mod connection;
mod driver;
mod ffi;
mod ffi_connection;
mod instance;
mod session;
mod statistics;

pub use driver::{driver, open_library};
