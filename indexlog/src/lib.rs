//! An index+log engine: a reference for a design of which no free implementation exists.
//!
//! Documents lie in a log of segments in the order of their sequence numbers; an LSM tree maps each
//! key to a sequence number, which is a logical address: a document can move without a change of
//! the index. Compactions of that tree write what they drop to a delete list, and garbage
//! collection merges the list with a segment without ever reading the index.
//!
//! It is a re-implementation from the published description, and no measure of the original.
//! Source: [Lakshman 2022]; [Callaghan 2022-09-28].
//!
//! One keyspace, no transactions beyond a batch, one process. Invariants: the ranges of segments do
//! not overlap; every tuple of the index that is no deletion has its document; no document on the
//! delete list is the newest of its key; a dropped tuple is on the delete list in the same edit.

mod caches;
mod codec;
mod collection;
mod counters;
mod database;
mod document;
mod error;
mod files;
mod index;
mod jobs;
mod log;
mod manifest;
mod options;
mod reading;
mod recovery;
mod shared;
mod state;
mod sync;
mod threads;
mod version;
mod wal;
mod write_cache;
mod writing;

#[cfg(test)]
mod tests;

pub use caches::CacheUse;
pub use database::{Database, Value};
pub use error::{Error, LENGTH_MAX, Result};
pub use options::{Compression, Durability, Options};
pub use state::State;
pub use wal::Write;
