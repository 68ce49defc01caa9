//! One observation of a rule.

use model::record::Severity;

use crate::finding::Place;

/// One observation of a rule, with its place.
///
/// Observations of one kind and severity become one finding over runs, variants and steps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Observation {
    /// With the figures, without a full stop and without the place.
    pub(crate) evidence: String,
    /// Where; the caller adds run and variant to an observation in one run.
    pub(crate) place: Place,
    /// Severity in place of the rule's own.
    pub(crate) severity: Option<Severity>,
    /// Remedy in place of the rule's own.
    pub(crate) remedy: Option<String>,
    /// Distinguishes it from the rule's other observations.
    pub(crate) kind: &'static str,
    /// Rank within its kind: the finding shows the first of the largest.
    pub(crate) size: f64,
}

impl Observation {
    /// Returns an observation without a place, with the rule's own severity and remedy.
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

    /// Adds a step to its place.
    pub(crate) fn step(mut self, step: &str) -> Self {
        self.place.steps.push(step.to_owned());
        self
    }

    /// Adds a variant to its place.
    pub(crate) fn variant(mut self, variant: &str) -> Self {
        self.place.variants.push(variant.to_owned());
        self
    }

    /// Adds a run to its place.
    pub(crate) fn run(mut self, run: &str) -> Self {
        self.place.runs.push(run.to_owned());
        self
    }

    /// Sets its severity.
    pub(crate) const fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// Sets its severity: blocking if so, and a warning otherwise.
    pub(crate) const fn blocking_if(self, is_severe: bool) -> Self {
        self.severity(if is_severe { Severity::Blocking } else { Severity::Warning })
    }

    /// Sets its kind, and its rank within the kind.
    pub(crate) const fn ranked(mut self, kind: &'static str, size: f64) -> Self {
        self.kind = kind;
        self.size = size;
        self
    }

    /// Sets its remedy.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}
