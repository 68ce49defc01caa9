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

/// Shell lines that fix a finding, and that undo the change; advice is a comment line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MachineRemedy {
    /// Lines that fix it. The key in JSON stays `mend`, for programs that read it.
    #[serde(rename = "mend")]
    pub fix: Vec<String>,
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
    /// What fixes a finding.
    pub remedy: MachineRemedy,
}

/// A check's value in the manifest of an experiment.
///
/// Two are equal when they state the same setting ([`Self::setting`]).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HostCheck {
    /// Name of the check.
    pub check: String,
    /// The state.
    pub state: CheckState,
    /// The value; `None` when it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// Checks whose values change by themselves: whether they are findings is compared.
const LEVELS: [&str; 1] = ["free_space"];

impl HostCheck {
    /// Returns what is the same in two experiments unless the machine changed.
    ///
    /// The value, or of a level whether it is a finding; `None` when it could not be read.
    pub fn setting(&self) -> Option<&str> {
        let value = self.value.as_deref()?;
        Some(if LEVELS.contains(&&*self.check) { self.state.name() } else { value })
    }
}

impl PartialEq for HostCheck {
    fn eq(&self, other: &Self) -> bool {
        let key = |one: &Self| (one.check.clone(), one.state, one.setting().map(str::to_owned));
        key(self) == key(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_is_the_same_setting_until_it_is_a_finding() {
        let check = |check: &str, state, value: &str| HostCheck {
            check: check.to_owned(),
            state,
            value: Some(value.to_owned()),
        };
        let space = |state, value| check("free_space", state, value);
        let half = space(CheckState::Fine, "50 % used of 1.00 GiB");
        assert_eq!(half, space(CheckState::Fine, "51 % used of 1.00 GiB"));
        assert_ne!(half, space(CheckState::Finding, "91 % used of 1.00 GiB"));
        let queue = |kib| check("queue_settings", CheckState::Fine, kib);
        assert_ne!(queue("read_ahead_kb 128"), queue("read_ahead_kb 256"));
    }
}
