//! The definition of a rule: its texts and its checks.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use model::record::Severity;
use model::{StepRecord, Variant};
use serde::Deserialize;

use super::Observation;
use crate::context::{ComparisonContext, PlanContext, RunContext};

/// One rule.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Stable code (`A021`).
    #[serde(skip)]
    pub code: &'static str,
    /// Short name, lower case (`inherited debt`).
    pub name: &'static str,
    /// Severity of its findings, unless an observation has its own.
    #[serde(default = "warning")]
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
    #[serde(default)]
    pub is_recorded: bool,
    /// What it observes.
    #[serde(skip)]
    pub(crate) checks: Checks,
}

/// Every rule by its code, without the checks.
pub(crate) static TEXTS: LazyLock<BTreeMap<&'static str, Rule>> =
    LazyLock::new(|| toml::from_str(include_str!("../rules.toml")).expect("the texts are tested"));

const fn warning() -> Severity {
    Severity::Warning
}

/// What a rule observes in a step of a run.
type StepCheck = fn(&RunContext<'_>, &StepRecord) -> Option<Observation>;

/// What a rule observes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Checks {
    /// The code of the rule.
    pub(crate) code: &'static str,
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
    pub(crate) const EMPTY: Self = Self {
        code: "",
        plan: None,
        variant: None,
        run: None,
        steps: &[],
        measured: &[],
        comparison: None,
    };

    /// Returns whether plans, runs and comparisons are checked.
    pub(crate) const fn moments(&self) -> [bool; 3] {
        let has_steps = !self.steps.is_empty() || !self.measured.is_empty();
        let has_plan = self.plan.is_some() || self.variant.is_some();
        [has_plan, self.run.is_some() || has_steps, self.comparison.is_some()]
    }
}

impl Rule {
    /// Returns what it checks: plans, runs, comparisons.
    pub fn moments(&self) -> Vec<&'static str> {
        let [plans, runs, comparisons] = self.checks.moments();
        let moments =
            [(plans, "plans"), (runs || self.is_recorded, "runs"), (comparisons, "comparisons")];
        moments.iter().filter(|(is_checked, _)| *is_checked).map(|(_, name)| *name).collect()
    }
}
