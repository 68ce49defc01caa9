//! Counts and times of operations, by kind.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::capability::OpKind;

/// Counts of one kind of operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpCounts {
    /// Operations that were done, answers of `not found` included.
    pub done: u64,
    /// Of these, reads that found nothing.
    pub not_found: u64,
    /// Operations that failed; never counted as done.
    pub failed: u64,
    /// Rows returned or written.
    pub rows: u64,
    /// Bytes of keys and values returned or written.
    pub bytes: u64,
    /// Answers whose value was checked and found right.
    pub verified: u64,
}

impl OpCounts {
    /// Adds `other` to these counts.
    pub const fn merge(&mut self, other: &Self) {
        self.done += other.done;
        self.not_found += other.not_found;
        self.failed += other.failed;
        self.rows += other.rows;
        self.bytes += other.bytes;
        self.verified += other.verified;
    }
}

/// Percentiles of one histogram, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Operations in the histogram.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Half of the operations stayed within.
    pub p50_ns: u64,
    /// 90 % of the operations stayed within.
    pub p90_ns: u64,
    /// 99 % of the operations stayed within.
    pub p99_ns: u64,
    /// 99.9 % of the operations stayed within.
    pub p999_ns: u64,
    /// 99.99 % of the operations stayed within.
    pub p9999_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// Counts and times of one kind of operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct OpSummary {
    /// Counts.
    pub counts: OpCounts,
    /// Response time: ended - intended.
    pub response: Percentiles,
    /// Service time: ended - started.
    pub service: Percentiles,
}

/// Summaries by kind of operation.
pub type OpSummaries = BTreeMap<OpKind, OpSummary>;
