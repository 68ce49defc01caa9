//! What rules find, and the label that it leaves.

use model::Label;
use model::record::{Finding, Severity};
use serde::Serialize;

/// Where something was seen; an empty list means everywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// Names of steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// Names of variants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<String>,
    /// Identifiers of runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
}

/// One finding of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LintFinding {
    /// Code of the rule (`A021`).
    pub code: &'static str,
    /// The rule's short name.
    pub name: &'static str,
    /// How grave it is here.
    pub severity: Severity,
    /// What was seen, with the figures; one or more whole phrases without a full stop.
    pub evidence: String,
    /// What to do about it.
    pub remedy: String,
    /// Where.
    pub place: Place,
    /// The author's reason to set it aside, when he did.
    pub waived: Option<String>,
}

impl LintFinding {
    /// Returns how grave it is once waivers are heeded: what is waived is a note.
    #[must_use]
    pub const fn weight(&self) -> Severity {
        if self.waived.is_some() { Severity::Note } else { self.severity }
    }
}

impl From<&LintFinding> for Finding {
    fn from(found: &LintFinding) -> Self {
        Self {
            code: found.code.to_owned(),
            severity: found.severity,
            evidence: found.evidence.clone(),
            remedy: found.remedy.clone(),
        }
    }
}

/// Returns the label that these findings leave.
#[must_use]
pub fn label(found: &[LintFinding]) -> Label {
    Label::of(found.iter().map(LintFinding::weight).max())
}
