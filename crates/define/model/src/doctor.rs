//! Results of `assay doctor`: what the checks of a machine found.

use serde::{Deserialize, Serialize};

use crate::finding::Severity;

/// State of one checked setting or part of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// As it is for stable results.
    Fine,
    /// It can spoil results.
    Finding,
    /// It cannot be read here; never counted as fine.
    Unknown,
    /// This machine has no such thing.
    NotApplicable,
}

crate::names::names!(CheckState, "a state": Fine "fine", Finding "finding", Unknown "unknown",
    NotApplicable "not applicable");

/// Shell lines that mend a finding, and that undo the change; advice is a comment line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MachineRemedy {
    /// Lines that mend it.
    pub mend: Vec<String>,
    /// Lines that restore what was found.
    pub undo: Vec<String>,
}

/// Result of one check of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckResult {
    /// Name of the check (`governor`).
    pub check: &'static str,
    /// What is checked, in a few words.
    pub subject: &'static str,
    /// Severity of the finding; what it would be in any other state.
    pub severity: Severity,
    /// The state.
    pub state: CheckState,
    /// The value that was read, short enough for a table.
    pub value: Option<String>,
    /// The evidence with its figures, or the reason of an unknown.
    pub evidence: String,
    /// Why it matters.
    pub why: &'static str,
    /// Public source of that.
    pub source: &'static str,
    /// What mends a finding.
    pub remedy: MachineRemedy,
}

/// A check's value in the manifest of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCheck {
    /// Name of the check.
    pub check: String,
    /// The state.
    pub state: CheckState,
    /// The value; `None` when it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}
