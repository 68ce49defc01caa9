//! The list of all rules.

use super::{
    ascii, conformance, cycles, dependencies, documents, glossary, layers, leftovers, names,
    places, reach, sizes, sources, words,
};
use crate::repo::Repo;
use crate::rule::violation::Violation;

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Name, as printed behind a violation.
    pub name: &'static str,
    /// The demand, in one sentence without a full stop.
    pub about: &'static str,
    /// Finds the violations.
    pub check: fn(&Repo) -> Vec<Violation>,
}

/// Every rule, in the order of their names.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    Rule { name: "ascii", about: "code is ASCII, except in texts", check: ascii::check },
    Rule { name: "conformance", about: "every driver runs the conformance battery", check: conformance::check },
    Rule { name: "cycles", about: "no files import one another in a circle", check: cycles::check },
    Rule { name: "dependencies", about: "every dependency is used and has its line in docs/dependencies.md", check: dependencies::check },
    Rule { name: "documents", about: "a page has one title, is small and reachable, and its links lead somewhere", check: documents::check },
    Rule { name: "glossary", about: "GLOSSARY.md defines each term once", check: glossary::check },
    Rule { name: "layers", about: "imports follow the layer table", check: layers::check },
    Rule { name: "leftovers", about: "no unfinished work", check: leftovers::check },
    Rule { name: "names", about: "names of files name a concept; mod.rs holds no code", check: names::check },
    Rule { name: "places", about: "no tracked file names a registry's host or a path of one machine", check: places::check },
    Rule { name: "reach", about: "every source is compiled", check: reach::check },
    Rule { name: "sizes", about: "files and lines stay small", check: sizes::check },
    Rule { name: "sources", about: "a public statistic names its source, and each cited source is in the references", check: sources::check },
    Rule { name: "words", about: "names and prose use the words of the field", check: words::check },
];

/// Runs every rule; returns violations in the order of rules and paths.
#[must_use]
pub fn check_all(repo: &Repo) -> Vec<(&'static Rule, Violation)> {
    let found = RULES.iter().map(|rule| {
        let mut violations = (rule.check)(repo);
        violations.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        violations.into_iter().map(move |violation| (rule, violation))
    });
    found.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sorted_and_have_a_demand() {
        assert!(RULES.is_sorted_by_key(|rule| rule.name));
        assert!(RULES.iter().all(|rule| !rule.about.is_empty() && !rule.about.ends_with('.')));
    }
}
