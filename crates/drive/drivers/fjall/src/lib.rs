//! fjall driver: the linked fjall, an LSM tree with a journal.
//!
//! It is not a general fjall wrapper: one keyspace in one database. It stands below `engine`,
//! whose traits it implements. `docs/engines/fjall.md` has what a user needs.
//!
//! Whatever the durability class, a clean close syncs, and so does fjall for each memtable it
//! flushes. fjall stores a keyspace's options at its creation; data reopened with other options is
//! refused, and the driver calls `persist` where the class requires more than fjall does. A
//! `multi_get` is repeated gets on one snapshot.
//!
//! fjall's cache and read counters are a compile-time feature that adds shared counters to each
//! block read; it is off, so hits, misses and block lookups are unknown.
//!
//! Invariants: values go to [`engine::Rows`] straight from fjall's reference-counted slice; an
//! option that would break the guarantee of the durability class does not exist. Allocations per
//! operation are fjall's own: it takes keys and values of writes as owned slices.
//!
//! To add an option, add it to `config.rs` and `describe.rs`.

mod config;
mod describe;
mod driver;
mod instance;
mod session;
mod value;

pub use driver::driver;
