//! One check of a machine.

use model::{CheckResult, CheckState, Topic};

use crate::outcome::Outcome;
use crate::source::Source;

/// A check; its code is the name of its file.
pub type Check = Topic<Probe>;

/// What a check reads.
#[derive(Debug)]
pub struct Probe {
    /// Whether manifests have its value: it reads a few files, and runs no program.
    pub is_in_manifests: bool,
    run: fn(&Source) -> Outcome,
}

impl Probe {
    /// Returns a probe of a few files, whose value manifests have.
    pub(crate) const fn in_manifests(run: fn(&Source) -> Outcome) -> Self {
        Self { is_in_manifests: true, run }
    }

    /// Returns a probe that runs programs or waits.
    pub(crate) const fn live(run: fn(&Source) -> Outcome) -> Self {
        Self { is_in_manifests: false, run }
    }
}

/// Returns what a check finds.
pub(crate) fn result(check: &Check, source: &Source) -> CheckResult {
    let outcome = (check.check.run)(source);
    let is_finding = outcome.state == CheckState::Finding;
    CheckResult {
        check: check.code,
        subject: check.name,
        severity: outcome.severity.filter(|_| is_finding).unwrap_or(check.severity),
        state: outcome.state,
        value: outcome.value,
        evidence: outcome.evidence,
        why: check.why,
        source: check.source,
        remedy: outcome.remedy,
    }
}
