//! The definition of a rule: its texts and its checks.

use model::record::Severity;
use model::{StepRecord, Variant};

use super::Observation;
use crate::context::{ComparisonContext, PlanContext, RunContext};

/// What a rule observes in a step of a run.
type StepCheck = fn(&RunContext<'_>, &StepRecord) -> Option<Observation>;

/// What the findings of a rule follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// What was measured, or the machine.
    Measured,
    /// The size of the experiment alone: a longer or larger one has no such finding.
    Size,
    /// The same, where the experiment's author chose the size: short texts only count it.
    ChosenSize,
    /// Another choice of the author.
    Chosen,
}

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
    /// What its findings follow from, unless they block.
    pub origin: Origin,
    /// Observations in a plan.
    pub(crate) plan: Option<fn(&PlanContext<'_>) -> Vec<Observation>>,
    /// The observation about each variant of a plan; its place is added.
    pub(crate) variant: Option<fn(&PlanContext<'_>, &Variant) -> Option<Observation>>,
    /// Observations in one run.
    pub(crate) run: Option<fn(&RunContext<'_>) -> Vec<Observation>>,
    /// Observations in each step of a run; their place is added.
    pub(crate) steps: &'static [StepCheck],
    /// The same in the steps that did operations.
    pub(crate) measured: &'static [StepCheck],
    /// Observations in a comparison, beyond those in each run.
    pub(crate) comparison: Option<fn(&ComparisonContext<'_>) -> Vec<Observation>>,
}

impl Rule {
    /// The defaults of the fields.
    pub(crate) const EMPTY: Self = Self {
        code: "",
        name: "",
        severity: Severity::Warning,
        trigger: "",
        why: "",
        remedy: "",
        source: "",
        is_recorded: false,
        origin: Origin::Measured,
        plan: None,
        variant: None,
        run: None,
        steps: &[],
        measured: &[],
        comparison: None,
    };

    /// Returns what it checks: plans, runs, comparisons.
    pub fn moments(&self) -> Vec<&'static str> {
        let has_plan = self.plan.is_some() || self.variant.is_some();
        let has_steps = !self.steps.is_empty() || !self.measured.is_empty();
        let has_run = self.run.is_some() || has_steps || self.is_recorded;
        let moments =
            [(has_plan, "plans"), (has_run, "runs"), (self.comparison.is_some(), "comparisons")];
        moments.iter().filter(|(is_checked, _)| *is_checked).map(|(_, name)| *name).collect()
    }
}
