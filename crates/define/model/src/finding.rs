//! Findings about plans, runs and comparisons.

use serde::{Deserialize, Serialize};

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// The result may be misleading.
    #[serde(alias = "doubt")]
    Warning,
    /// The result must not be used.
    Blocking,
}

crate::names::names!(Severity, "a severity": Note "note", Warning "warning", Blocking "blocking");

/// A finding about a plan, a run or a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable code (`A021`).
    pub code: String,
    /// Its severity.
    pub severity: Severity,
    /// The evidence, with the figures.
    #[serde(rename = "seen")]
    pub evidence: String,
    /// The remedy.
    pub remedy: String,
}
