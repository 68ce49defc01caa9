//! Tests of the RocksDB driver on real libraries.
//!
//! Each test runs in a child process. The libraries come from the supply crate's cache or download;
//! a test without one prints `skipped: REASON`, unless `CI` is `true`.

#![expect(clippy::unwrap_used, reason = "an unwrap in a helper fails the test")]

mod battery;
mod behaviour;
mod caches;
mod loading;
mod profiles;
mod release;
