//! redb driver: the linked redb.
//!
//! It is not a general redb wrapper: one table of bytes to bytes. It stands below `engine`, whose
//! traits it implements; the program's registry names [`driver`] only.
//!
//! | durability | redb | what a commit does |
//! |---|---|---|
//! | `none` | `Durability::None` | pages stay in redb's cache, as far as they fit |
//! | `os` | `Immediate`, syncs dropped by the backend | pages and header go to `write()` |
//! | `sync` | `Durability::Immediate` | the same, then the file is synced |
//!
//! redb itself has no class between `none` and `sync`; `os` is its `Immediate` commit on a
//! [`redb::StorageBackend`] of this driver that forwards everything but syncs to redb's own
//! backend. The backend also counts the bytes written and the syncs, in every class. Whatever the
//! class, a clean close commits with `Immediate` and syncs. One write transaction per put or
//! delete, one read transaction per get, scan and `multi_get`. redb has no background threads for
//! `background_jobs`.
//!
//! Reported: bytes of the file, bytes written and syncs, by the backend; page lookups and reads, by
//! redb's cache. Those counters are a compile-time feature that adds two shared counters to each
//! page read. It is on: callgrind counts no more instructions with it, and two clients show no
//! difference, since each read begins with a lock shared by all clients. Rewrites of pages in the
//! cache are separate counters, under redb's own names.
//!
//! redb computes the height of its tree only by walking all of it. The driver does so for the
//! statistics text, and only while the file fits in the cache; [`engine::Engine::state`] repeats
//! the last result.
//!
//! Invariants: values go to [`engine::Rows`] straight from the cached page; an option that would
//! break the guarantee of the durability class does not exist. Allocations per operation are redb's
//! own: a transaction and its table handle.
//!
//! To add an option, add it to `config.rs`.

mod backend;
mod config;
mod driver;
mod error;
mod identity;
mod instance;
mod session;

use engine::Driver;

/// Returns the driver of the linked redb.
#[must_use]
pub fn driver() -> Box<dyn Driver> {
    Box::new(driver::RedbDriver)
}
