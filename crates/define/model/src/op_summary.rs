//! Counts and times of operations, by kind.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::capability::OpKind;
use crate::failure::FailureCounts;
use crate::number::read_count;
use crate::units::Nanos;

/// Counts of one kind of operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpCounts {
    /// Operations that were done, answers of `not found` included.
    #[serde(deserialize_with = "read_count")]
    pub done: u64,
    /// Of these, reads that found nothing.
    #[serde(deserialize_with = "read_count")]
    pub not_found: u64,
    /// Operations that failed; never counted as done.
    #[serde(deserialize_with = "read_count")]
    pub failed: u64,
    /// Failed operations by class; empty in records of earlier versions.
    #[serde(default, skip_serializing_if = "FailureCounts::is_empty")]
    pub failures: FailureCounts,
    /// Operations done in the place of failed ones: their time includes the failures' time.
    #[serde(
        default,
        alias = "retried",
        skip_serializing_if = "is_zero",
        deserialize_with = "read_count"
    )]
    pub replacing: u64,
    /// Rows returned or written.
    #[serde(deserialize_with = "read_count")]
    pub rows: u64,
    /// Bytes of keys and values returned or written.
    #[serde(deserialize_with = "read_count")]
    pub bytes: u64,
    /// Answers whose value was checked and found right.
    #[serde(deserialize_with = "read_count")]
    pub verified: u64,
}

impl OpCounts {
    /// Adds `other` to these counts.
    pub const fn merge(&mut self, other: &Self) {
        self.done = self.done.saturating_add(other.done);
        self.not_found = self.not_found.saturating_add(other.not_found);
        self.failed = self.failed.saturating_add(other.failed);
        self.failures.merge(&other.failures);
        self.replacing = self.replacing.saturating_add(other.replacing);
        self.rows = self.rows.saturating_add(other.rows);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.verified = self.verified.saturating_add(other.verified);
    }

    /// Describes the failed operations: `3 failed: 2 lost connection, 1 deadlock; 2 done in
    /// their place`.
    ///
    /// `None` when none failed; without classes in records that have none.
    pub fn failures_phrase(&self) -> Option<String> {
        let mut text = format!("{} failed", self.failed);
        if !self.failures.is_empty() {
            text = format!("{text}: {}", self.failures.phrase());
        }
        if self.replacing > 0 {
            text = format!("{text}; {} done in their place", self.replacing);
        }
        (self.failed > 0).then_some(text)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// An operation that began in an earlier interval than it ended in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanningOp {
    /// Its kind.
    pub kind: OpKind,
    /// When it ended, relative to the step or the probe.
    pub ended_ns: Nanos,
    /// Ended - started.
    pub service_ns: Nanos,
    /// Ended - intended.
    pub response_ns: Nanos,
    /// Rows returned or written.
    pub rows: u64,
    /// Bytes of keys and values returned or written.
    pub bytes: u64,
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

/// Returns the counts of all kinds together.
pub fn total_counts(of: &OpSummaries) -> OpCounts {
    let mut total = OpCounts::default();
    of.values().for_each(|summary| total.merge(&summary.counts));
    total
}
