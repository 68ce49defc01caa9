//! The tasks of both clients.

use std::path::PathBuf;

use model::OpKind;
use serde::{Deserialize, Serialize};

/// Rows of the data: 2.4 MB, which the block cache holds many times over.
pub(crate) const ROWS: u64 = 20_000;
/// Bytes of a key, laid out alike by both.
pub(crate) const KEY_BYTES: u32 = 20;
/// Bytes of a value: `db_bench`'s default.
pub(crate) const VALUE_BYTES: u32 = 100;
/// Bytes of the block cache.
pub(crate) const CACHE_BYTES: u64 = 32 << 20;
/// Bytes of a memtable: all writes of one task fit, so nothing is flushed while it is timed.
pub(crate) const MEMTABLE_BYTES: u64 = 512 << 20;

/// A workload, under both clients' names.
#[derive(Debug)]
pub(crate) struct Work {
    /// The step.
    pub(crate) step: &'static str,
    /// What `db_bench` calls it.
    pub(crate) peer: &'static str,
    /// The kind of its operations.
    pub(crate) kind: OpKind,
    /// Operations of a timed task: one to four seconds.
    pub(crate) operations: u64,
}

/// The compared workloads.
pub(crate) const WORKS: [Work; 3] = [
    Work { step: "readrandom", peer: "readrandom", kind: OpKind::Get, operations: 1_200_000 },
    Work { step: "fwdrange", peer: "seekrandom", kind: OpKind::Scan, operations: 500_000 },
    Work { step: "fillrandom", peer: "fillrandom", kind: OpKind::Put, operations: 800_000 },
];

/// Rows of a range.
pub(crate) const RANGE_ROWS: u32 = 10;

/// The task of one process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    /// The step; a `fillseq` is compacted behind the clients, to prepare the data of the reads.
    pub(crate) step: String,
    /// Operations.
    pub(crate) operations: u64,
    /// Data directory.
    pub(crate) dir: PathBuf,
    /// The library.
    pub(crate) library: PathBuf,
}
