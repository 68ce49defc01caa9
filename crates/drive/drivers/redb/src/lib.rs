//! redb driver: the linked redb.
//!
//! It is not a general redb wrapper: one table of bytes to bytes. It stands below `engine`, whose
//! traits it implements. `docs/engines/redb.md` has what a user needs.
//!
//! redb itself has no class between `none` and `sync`; `os` is its `Immediate` commit on a
//! [`redb::StorageBackend`] of this driver that forwards everything but syncs to redb's own
//! backend, and counts bytes and syncs. Whatever the class, a clean close commits with `Immediate`
//! and syncs. One write transaction per put or delete, one read transaction per get, scan and
//! `multi_get`.
//!
//! Page lookups are counted by redb's cache, a compile-time feature that adds two shared counters
//! to each page read. It is on: callgrind counts no more instructions with it, and two clients show
//! no difference, since each read begins with a lock shared by all clients.
//!
//! Invariants: values go to [`engine::Rows`] straight from the cached page; an option that would
//! break the guarantee of the durability class does not exist. Allocations per operation are redb's
//! own: a transaction and its table handle.
//!
//! To add an option, add it to `config.rs`.

mod backend;
mod config;
mod driver;
mod instance;
mod session;

pub use driver::driver;
