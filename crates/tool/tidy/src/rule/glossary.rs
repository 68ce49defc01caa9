//! GLOSSARY.md defines each term once.

use std::collections::BTreeSet;

use crate::repo::Repo;
use crate::rule::violation::Violation;

const DOCUMENT: &str = "GLOSSARY.md";

/// Returns a violation per term that is defined again.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let text = repo.file(DOCUMENT).map_or("", |file| file.text());
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let again = terms(text).filter(|term| !known.insert(*term));
        found.extend(again.map(|term| {
            Violation::at(DOCUMENT, line, format!("`{term}` is defined twice: remove one"))
        }));
    }
    found
}

/// Iterates over the terms that a line defines, `- **term**, **other**: ...`.
fn terms(line: &str) -> impl Iterator<Item = &str> {
    let line = line.strip_prefix("- ").filter(|rest| rest.starts_with("**")).unwrap_or_default();
    line.split("**").skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_defined_twice_is_a_violation() {
        let text = "- **cell**: x.\n- **factor**, **level**: y.\n- see **cell**\n- **level**: z.\n";
        let found = check(&Repo::of(&[(DOCUMENT, text)]));
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, ["GLOSSARY.md:4: `level` is defined twice: remove one"]);
    }
}
