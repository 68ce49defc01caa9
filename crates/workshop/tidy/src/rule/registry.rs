//! The list of all rules.

use super::{
    children, conformance, cycles, dependencies, documents, layers, leftovers, names, reach,
    reproduced, sizes, sources, unsafe_code, waivers, words,
};
use crate::repo::Repo;
use crate::rule::violation::Violation;

/// Finds the violations of a rule.
type Check = fn(&Repo) -> Vec<Violation>;

/// Every rule with the name printed behind its violations, in the order of their names.
pub(crate) const RULES: &[(&str, Check)] = &[
    ("children", children::check),
    ("conformance", conformance::check),
    ("cycles", cycles::check),
    ("dependencies", dependencies::check),
    ("documents", documents::check),
    ("layers", layers::check),
    ("leftovers", leftovers::check),
    ("names", names::check),
    ("reach", reach::check),
    ("reproduced", reproduced::check),
    ("sizes", sizes::check),
    ("sources", sources::check),
    ("unsafe", unsafe_code::check),
    ("waivers", waivers::check),
    ("words", words::check),
];

/// Runs every rule; returns violations in the order of rules and paths.
pub(crate) fn check_all(repo: &Repo) -> Vec<(&'static str, Violation)> {
    let found = RULES.iter().map(|(name, check)| {
        let mut violations = check(repo);
        violations.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        violations.into_iter().map(move |violation| (*name, violation))
    });
    found.flatten().collect()
}
