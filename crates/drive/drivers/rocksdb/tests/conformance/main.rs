//! What the RocksDB driver promises, on real libraries, each in a process of its own.
//!
//! The libraries come from the supply crate's cache, or from where it fetches them; a test that
//! cannot have one prints `skipped: why`, unless `CI` is `true`.

#![expect(clippy::unwrap_used, reason = "what a test's functions unwrap fails the test")]
#![expect(clippy::print_stdout, reason = "a test says why it is skipped, a child what it found")]

mod battery;
mod behaviour;
mod caches;
mod loading;
mod profiles;
mod release;
