//! The definition of a rule: its texts and its checks.

use model::{StepRecord, Topic, Variant, rule_code};

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
pub type Rule = Topic<Checks>;

/// What a rule checks.
#[derive(Debug, Clone, Copy)]
pub struct Checks {
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

impl Checks {
    /// The defaults of the fields.
    pub(crate) const NONE: Self = Self {
        origin: Origin::Measured,
        plan: None,
        variant: None,
        run: None,
        steps: &[],
        measured: &[],
        comparison: None,
    };
}

/// Returns what a rule checks: plans, runs, comparisons.
pub fn moments(rule: &Rule) -> Vec<&'static str> {
    let checks = &rule.check;
    let has_plan = checks.plan.is_some() || checks.variant.is_some();
    let has_steps = !checks.steps.is_empty() || !checks.measured.is_empty();
    let is_recorded = rule_code::ALL.contains(&rule.code);
    let has_run = checks.run.is_some() || has_steps || is_recorded;
    let moments =
        [(has_plan, "plans"), (has_run, "runs"), (checks.comparison.is_some(), "comparisons")];
    moments.iter().filter(|(is_checked, _)| *is_checked).map(|(_, name)| *name).collect()
}
