//! What a rule is.

use model::record::Severity;

use crate::context::{ComparisonContext, PlanContext, RunContext};
use crate::found::Place;

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Stable code (`A021`).
    pub code: &'static str,
    /// Short name, lower case (`inherited debt`).
    pub name: &'static str,
    /// How grave it is, unless what was seen says otherwise.
    pub severity: Severity,
    /// When it fires, with its thresholds.
    pub trigger: &'static str,
    /// Why it matters, in one or two sentences.
    pub why: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
    /// The seed, reference or paper behind it.
    pub source: &'static str,
    /// What it sees in a plan.
    pub(crate) plan: Option<fn(&PlanContext<'_>) -> Vec<Seen>>,
    /// What it sees in one run.
    pub(crate) run: Option<fn(&RunContext<'_>) -> Vec<Seen>>,
    /// What it sees in a comparison, beyond what it sees in each run.
    pub(crate) comparison: Option<fn(&ComparisonContext<'_>) -> Vec<Seen>>,
}

/// What a rule saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// With the figures, without a full stop.
    pub(crate) seen: String,
    /// Where.
    pub(crate) place: Place,
    /// In place of the rule's own gravity.
    pub(crate) severity: Option<Severity>,
    /// In place of the rule's own remedy.
    pub(crate) remedy: Option<String>,
}

impl Seen {
    /// Returns what was seen everywhere, with the rule's own gravity and remedy.
    pub(crate) fn new(seen: impl Into<String>) -> Self {
        Self { seen: seen.into(), place: Place::default(), severity: None, remedy: None }
    }
}
