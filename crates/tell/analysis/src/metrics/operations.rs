//! What costs and amplifications are divided by.

use model::record::OpCounts;
use model::{DataShape, OpKind, StepRecord};

use super::derived::float;

/// Returns the operations that a step's costs are divided by.
///
/// These are the operations the measured clients did. The background writer's are not among
/// them: its work is part of what the clients' operations cost. This is the only definition.
///
/// Source: M. Callaghan, "insert benchmark" summaries, where `op` is the query in query steps and
/// the insert in load steps.
#[must_use]
pub fn primary_operations(step: &StepRecord) -> u64 {
    step.clients.values().map(|summary| summary.counts.done).sum()
}

/// Returns the bytes of keys and values that clients and background writers put.
///
/// Rows put times the bytes of a row: what the user asked to be stored, before compression.
///
/// Source: RocksDB's ticker `bytes.written`, the divisor of its write amplification; ours leaves
/// out what an engine adds to a row.
#[must_use]
pub fn bytes_put(step: &StepRecord, data: &DataShape) -> u64 {
    rows_put(step).saturating_mul(data.row_bytes())
}

/// Returns the rows that clients and background writers put.
#[must_use]
pub fn rows_put(step: &StepRecord) -> u64 {
    counts(step).filter(|(kind, _)| *kind == OpKind::Put).map(|(_, counts)| counts.rows).sum()
}

/// Iterates over the counts of clients and background writers.
fn counts(step: &StepRecord) -> impl Iterator<Item = (OpKind, &OpCounts)> {
    step.clients.iter().chain(&step.writers).map(|(kind, summary)| (*kind, &summary.counts))
}

/// Returns the primary operations as a divisor; `None` when there are none.
pub(super) fn operations(step: &StepRecord) -> Option<f64> {
    Some(float(primary_operations(step))).filter(|ops| *ops > 0.0)
}
