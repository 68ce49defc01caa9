//! Findings of rules.

use model::record::{Finding, Severity};
use serde::Serialize;

/// The place of a finding; an empty list means everywhere.
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
    /// Its severity, before waivers.
    pub severity: Severity,
    /// The evidence with its figures: whole phrases without a full stop.
    pub evidence: String,
    /// The remedy.
    pub remedy: String,
    /// Where.
    pub place: Place,
    /// The places of its observations, without runs: pairs of steps and variants.
    #[serde(skip)]
    pub places: Vec<Place>,
    /// The reason of the experiment's waiver, if any.
    pub waived: Option<String>,
}

impl LintFinding {
    /// Returns whether it is about a step of a variant; without a step, about every step.
    pub fn concerns(&self, step: Option<&str>, variant: &str) -> bool {
        let holds = |names: &[String], name: &str| {
            names.is_empty() || names.iter().any(|known| known == name)
        };
        let is_there = |place: &Place| {
            holds(&place.variants, variant) && step.is_none_or(|step| holds(&place.steps, step))
        };
        match &self.places[..] {
            [] => is_there(&self.place),
            places => places.iter().any(is_there),
        }
    }

    /// Returns whether it blocks verdicts, after waivers.
    pub fn is_blocking(&self) -> bool {
        self.weight() == Severity::Blocking
    }

    /// Returns the severity after waivers: a waived finding is a note.
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
