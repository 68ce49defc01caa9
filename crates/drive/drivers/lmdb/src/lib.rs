//! LMDB driver: the linked LMDB, or a library of 0.9.
//!
//! It is not a general LMDB binding: one unnamed table of bytes to bytes. It stands below `engine`,
//! whose traits it implements. The linked one, of the branch mdb.master, and a loaded one fill one
//! table of C functions, so all other code is shared. `docs/engines/lmdb.md` has what a user needs.
//!
//! One write transaction per put or delete, one read transaction per get, scan and `multi_get`.
//! Each session holds a reader slot: its read transaction is reset after an operation and renewed
//! for the next one, which then reads everything committed before. Opening one directory twice in a
//! process breaks LMDB's locks; the driver does not check for it.
//!
//! Invariants: a value goes to [`engine::Rows`] straight from the map; `unsafe` is in the `ffi`
//! files alone; an option that would break the guarantee of the durability class is refused.
//!
//! To add an option, add it to the table in `config.rs`.

mod config;
mod driver;
mod ffi;
mod ffi_env;
mod instance;
mod session;

pub use driver::{driver, open_library};
