//! Writes of a step with events, compared with what the engine has afterwards.

use serde::{Deserialize, Serialize};

/// How many writes the engine has after a step with events.
///
/// Rows with many writes are sampled by key. A write is lost if neither it nor a write that may
/// have come after it is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteCheck {
    /// Rows compared.
    pub rows: u64,
    /// Acknowledged writes to these rows.
    pub acknowledged: u64,
    /// Those of them that are lost.
    pub lost: u64,
    /// Failed writes to these rows.
    pub failed: u64,
    /// Those of them that are there: a client that repeats them does them twice.
    pub applied: u64,
}

impl WriteCheck {
    /// Adds the writes of another run.
    pub const fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.acknowledged += other.acknowledged;
        self.lost += other.lost;
        self.failed += other.failed;
        self.applied += other.applied;
    }
}
