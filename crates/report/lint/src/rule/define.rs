//! The definition of a rule.

use model::record::Severity;

use super::Observation;
use crate::context::{ComparisonContext, PlanContext, RunContext};

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Stable code (`A021`).
    pub code: &'static str,
    /// Short name, lower case (`inherited debt`).
    pub name: &'static str,
    /// Severity of its findings, unless an observation has its own.
    pub severity: Severity,
    /// When it fires, with its thresholds.
    pub trigger: &'static str,
    /// Why it matters, in one or two sentences.
    pub why: &'static str,
    /// The remedy.
    pub remedy: &'static str,
    /// Keys of the references, or the reason of our own choice.
    pub source: &'static str,
    /// Whether the runner records its findings, which only the runner can observe.
    pub is_recorded: bool,
    /// Observations in a plan.
    pub(crate) plan: Option<fn(&PlanContext<'_>) -> Vec<Observation>>,
    /// Observations in one run.
    pub(crate) run: Option<fn(&RunContext<'_>) -> Vec<Observation>>,
    /// Observations in a comparison, beyond those in each run.
    pub(crate) comparison: Option<fn(&ComparisonContext<'_>) -> Vec<Observation>>,
}

impl Rule {
    /// The defaults of a rule's fields.
    pub(crate) const EMPTY: Self = Self {
        code: "",
        name: "",
        severity: Severity::Warning,
        trigger: "",
        why: "",
        remedy: "",
        source: "",
        is_recorded: false,
        plan: None,
        run: None,
        comparison: None,
    };

    /// Returns what it checks: plans, runs, comparisons.
    #[must_use]
    pub fn moments(&self) -> Vec<&'static str> {
        let moments = [
            (self.plan.is_some(), "plans"),
            (self.run.is_some() || self.is_recorded, "runs"),
            (self.comparison.is_some(), "comparisons"),
        ];
        moments.iter().filter(|(is_checked, _)| *is_checked).map(|(_, name)| *name).collect()
    }
}
