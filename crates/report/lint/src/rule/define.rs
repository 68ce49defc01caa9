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
    /// Whether the runner records it, because only the runner can see it.
    pub is_recorded: bool,
    /// What it sees in a plan.
    pub(crate) plan: Option<fn(&PlanContext<'_>) -> Vec<Seen>>,
    /// What it sees in one run.
    pub(crate) run: Option<fn(&RunContext<'_>) -> Vec<Seen>>,
    /// What it sees in a comparison, beyond what it sees in each run.
    pub(crate) comparison: Option<fn(&ComparisonContext<'_>) -> Vec<Seen>>,
}

impl Rule {
    /// A rule that sees nothing: what files of rules begin with.
    pub(crate) const SILENT: Self = Self {
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

    /// Returns the moments at which it is asked, in words.
    #[must_use]
    pub fn moments(&self) -> Vec<&'static str> {
        let moments = [
            (self.plan.is_some(), "plans"),
            (self.run.is_some() || self.is_recorded, "runs"),
            (self.comparison.is_some(), "comparisons"),
        ];
        moments.iter().filter(|(is_asked, _)| *is_asked).map(|(_, name)| *name).collect()
    }
}

/// What a rule saw.
///
/// Equals over runs, variants and steps become one finding: those of one kind and gravity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    /// With the figures, without a full stop and without the place.
    pub(crate) evidence: String,
    /// Where; run and variant are filled in for what is seen in one run.
    pub(crate) place: Place,
    /// In place of the rule's own gravity.
    pub(crate) severity: Option<Severity>,
    /// In place of the rule's own remedy.
    pub(crate) remedy: Option<String>,
    /// What tells it from other things that the rule sees.
    pub(crate) kind: &'static str,
    /// How strong it is: of equals the strongest is told, and the first of these.
    pub(crate) size: f64,
}

impl Seen {
    /// Returns what was seen everywhere, with the rule's own gravity and remedy.
    pub(crate) fn new(evidence: impl Into<String>) -> Self {
        Self {
            evidence: evidence.into(),
            place: Place::default(),
            severity: None,
            remedy: None,
            kind: "",
            size: 0.0,
        }
    }

    /// Puts it in a step.
    pub(crate) fn step(mut self, step: &str) -> Self {
        self.place.steps.push(step.to_owned());
        self
    }

    /// Puts it in a variant, among others.
    pub(crate) fn variant(mut self, variant: &str) -> Self {
        self.place.variants.push(variant.to_owned());
        self
    }

    /// Puts it in a run, among others.
    pub(crate) fn run(mut self, run: &str) -> Self {
        self.place.runs.push(run.to_owned());
        self
    }

    /// Grades it.
    pub(crate) const fn graded(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// Says what kind of thing it is, and how strong.
    pub(crate) const fn sized(mut self, kind: &'static str, size: f64) -> Self {
        self.kind = kind;
        self.size = size;
        self
    }

    /// Says what to do about this one.
    pub(crate) fn remedied(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}
