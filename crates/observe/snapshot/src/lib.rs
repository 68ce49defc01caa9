//! Saves, checks and restores the files of loaded databases.
//!
//! `key` is what a loaded database depends on; `record` describes a snapshot; `store` has all of
//! them below one directory; `tree` lists files, `transfer` copies them and `checksum` checks them.
//!
//! Invariants: a snapshot is made under a temporary name and renamed when it is whole; one whose
//! files differ from their hashes is never restored; links, devices and files with several names
//! are neither saved nor followed; no other account can write below the store's directory.
//!
//! This crate knows no engine and no clock: the runner decides what is saved, and when.

mod checksum;
mod error;
mod key;
mod record;
mod store;
#[cfg(test)]
mod tests;
mod transfer;
mod tree;

pub use error::SnapshotError;
pub use key::Key;
pub use record::{FORMAT, FileEntry, SnapshotRecord};
pub use store::{DIR, Listed, Made, Restored, Store};
