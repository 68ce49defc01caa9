//! fjall driver: the linked fjall, an LSM tree with a journal.
//!
//! It is not a general fjall wrapper: one keyspace in one database. It stands below `engine`,
//! whose traits it implements; the program's registry names [`driver`] only.
//!
//! | durability | fjall | what a write does |
//! |---|---|---|
//! | `none` | `manual_journal_persist` | goes to the memtable and the journal's buffer |
//! | `os` | fjall's default | the same, then the journal's buffer goes to `write()` |
//! | `sync` | `persist(SyncData)` after each write | the same, then `fdatasync()` of the journal |
//!
//! Whatever the class, a clean close syncs, and so does fjall for each memtable it flushes. fjall
//! stores a keyspace's options at its creation; data reopened with other options than it was
//! created with is refused, and the driver calls `persist` where the class requires more than fjall
//! does.
//!
//! Compression is off unless the settings or options name `lz4` (fjall's own default is `lz4`
//! from level 2 on, and for blobs). With the option `kv_separation = true` values of
//! `separation_threshold` bytes and more go to blob files. A `multi_get` is repeated gets on one
//! snapshot.
//!
//! Reported: bytes and files on disk, by level, of blobs and of the journal; garbage bytes of
//! blobs, as found by compactions; memory of memtables and cache; jobs; compactions done and their
//! time. fjall does not count bytes flushed and compacted, so the write amplification is the
//! kernel's (`write_amplification_process`). fjall's cache and read counters are a compile-time
//! feature that adds shared counters to each block read; it is off, so hits, misses and block
//! lookups are unknown.
//!
//! Invariants: values go to [`engine::Rows`] straight from fjall's reference-counted slice; an
//! option that would break the guarantee of the durability class does not exist. Allocations per
//! operation are fjall's own: it takes keys and values of writes as owned slices.
//!
//! To add an option, add it to `config.rs` and `describe.rs`.

mod config;
mod describe;
mod driver;
mod error;
mod identity;
mod instance;
mod session;
mod value;

use engine::Driver;

/// Returns the driver of the linked fjall.
#[must_use]
pub fn driver() -> Box<dyn Driver> {
    Box::new(driver::FjallDriver)
}
