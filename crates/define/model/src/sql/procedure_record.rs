//! Calls of one procedure in the measured span of a step.

use serde::{Deserialize, Serialize};

use crate::failure::FailureCounts;
use crate::op_summary::Percentiles;
use crate::units::Nanos;

/// Calls of one procedure that ended in the measured span, by clients and background writers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcedureRecord {
    /// The procedure's name.
    pub name: String,
    /// Calls that were done, those rolled back on purpose included.
    pub done: u64,
    /// Calls that failed, after every attempt.
    pub failed: u64,
    /// Of those done, calls that rolled their transaction back as the procedure requires.
    #[serde(default)]
    pub rolled_back: u64,
    /// Service times of those done, retries and their pauses included; to 1 %.
    pub service: Percentiles,
    /// Failed attempts that were repeated, by class.
    #[serde(default, skip_serializing_if = "FailureCounts::is_empty")]
    pub retried: FailureCounts,
    /// Time from the first attempts' starts to the last attempts', pauses included.
    #[serde(default)]
    pub retry_ns: Nanos,
    /// Limit of the procedure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ns: Option<Nanos>,
    /// Of those done, calls within it; `None` without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_limit: Option<u64>,
    /// Its executed statements, in order; empty without a SQL server, and in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementTiming>,
}

/// Times of one statement of a procedure, as the clients see them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementTiming {
    /// Position among the procedure's statements, from 1.
    pub number: u32,
    /// Service times of its executions that did not fail, in repeated attempts too; to 10 %.
    pub service: Percentiles,
}

impl ProcedureRecord {
    /// Returns the calls that were done and not rolled back.
    pub const fn committed(&self) -> u64 {
        self.done.saturating_sub(self.rolled_back)
    }

    /// Returns the executions of a statement; `None` where the clients timed none.
    pub fn timing(&self, number: u32) -> Option<&Percentiles> {
        let timing = self.statements.iter().find(|timing| timing.number == number);
        timing.map(|timing| &timing.service)
    }

    /// Returns the share of those done within the limit; `None` without a limit or calls.
    pub fn share_within(&self) -> Option<f64> {
        (self.done > 0).then_some(self.within_limit? as f64 / self.done as f64)
    }
}
