//! One check of a machine.

use model::record::Severity;
use model::{CheckResult, CheckState};

use crate::outcome::Outcome;
use crate::source::Source;

/// A check: what is read, when it is a finding, and why that matters.
#[derive(Debug)]
pub struct Check {
    /// Name, which is its file's.
    pub name: &'static str,
    /// What is checked, in a few words.
    pub subject: &'static str,
    /// Severity of its finding, unless the outcome has its own.
    pub severity: Severity,
    /// Why it matters, as a sentence.
    pub why: &'static str,
    /// Public source of that.
    pub source: &'static str,
    /// Whether manifests have its value: it reads a few files, and runs no program.
    pub is_in_snapshot: bool,
    pub(crate) run: fn(&Source) -> Outcome,
}

impl Check {
    /// Returns what it finds.
    pub fn result(&self, source: &Source) -> CheckResult {
        let outcome = (self.run)(source);
        let is_finding = outcome.state == CheckState::Finding;
        CheckResult {
            check: self.name,
            subject: self.subject,
            severity: outcome.severity.filter(|_| is_finding).unwrap_or(self.severity),
            state: outcome.state,
            value: outcome.value,
            evidence: outcome.evidence,
            why: self.why,
            source: self.source,
            remedy: outcome.remedy,
        }
    }
}
