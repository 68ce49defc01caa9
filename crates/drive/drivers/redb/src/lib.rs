//! redb as a system under test, linked.
//!
//! It is not a general redb wrapper: one table of bytes to bytes. It stands below `engine`, whose
//! traits it implements; the program's registry names [`driver`] and nothing else.
//!
//! | durability | redb | what a commit does |
//! |---|---|---|
//! | `none` | `Durability::None` | pages stay in redb's cache, as far as they fit |
//! | `os` | `Immediate`, syncs dropped by our backend | pages and header go to `write()` |
//! | `sync` | `Durability::Immediate` | the same, then the file is synced |
//!
//! redb has no level between `none` and `sync` of its own; `os` is its `Immediate` commit on a
//! [`redb::StorageBackend`] of ours that passes everything but the sync on to redb's own backend.
//! The backend also counts the bytes written and the syncs, in every class. Whatever the class, a
//! clean close commits with `Immediate` and syncs. One write transaction per put or delete, one
//! read transaction per get, scan and `multi_get`. redb has no background threads for
//! `background_jobs`.
//!
//! Told: bytes of the file, bytes written and syncs, by our backend; pages looked for and read, by
//! redb's cache. Those counters are a compile-time feature that adds two shared counters to each
//! page read. It is on: callgrind counts no more instructions with it, and two clients show no
//! difference, since each read begins by a lock that all clients share. What is written anew while
//! it is in the cache is told apart, under redb's own names.
//!
//! redb tells the height of its tree only by walking all of it. The driver asks when it is asked
//! for the statistics text, and only while the file fits in the cache; [`engine::Engine::state`]
//! repeats the last answer.
//!
//! Invariants: values go to [`engine::Rows`] straight from the cached page; an option that would
//! break the promise of the durability class does not exist. Allocations per operation are redb's
//! own: a transaction and its table handle.
//!
//! To add an option, add it to `config.rs`.

mod backend;
mod config;
mod driver;
mod error;
mod instance;
mod session;

use engine::Driver;

/// Returns the driver of the linked redb.
#[must_use]
pub fn driver() -> Box<dyn Driver> {
    Box::new(driver::RedbDriver)
}
