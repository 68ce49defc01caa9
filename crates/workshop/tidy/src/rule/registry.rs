//! Runs every rule.

use crate::repo::Repo;
use crate::rule::RULES;
use crate::rule::violation::Violation;

/// Runs every rule; returns violations in the order of rules and paths.
pub(crate) fn check_all(repo: &Repo) -> Vec<(&'static str, Violation)> {
    let found = RULES.iter().map(|(name, check)| {
        let mut violations = check(repo);
        violations.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        violations.into_iter().map(move |violation| (*name, violation))
    });
    found.flatten().collect()
}
