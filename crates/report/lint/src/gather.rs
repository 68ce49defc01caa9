//! Makes one finding of what a rule saw alike in several steps, variants and runs.

use std::collections::BTreeSet;

use model::record::Severity;

use crate::found::{LintFinding, Place};
use crate::rule::{Rule, Seen};

/// Which part of a place is told in words; a single run needs no name for its variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// Steps.
    Steps,
    /// Steps, variants and the number of runs.
    All,
}

/// Returns what `rule` saw as findings, in the order in which they were first seen.
///
/// The strongest of each kind and gravity is told, with how many others are like it.
pub(crate) fn gathered(rule: &'static Rule, evidence: Vec<Seen>, told: Told) -> Vec<LintFinding> {
    let mut groups: Vec<((&str, Severity), Vec<Seen>)> = Vec::new();
    for one in evidence {
        let key = (one.kind, one.severity.unwrap_or(rule.severity));
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    let found = |((_, severity), group): ((&str, Severity), Vec<Seen>)| {
        let strongest = strongest(&group)?;
        Some(LintFinding {
            code: rule.code,
            name: rule.name,
            severity,
            evidence: words(strongest, &group, told),
            remedy: strongest.remedy.clone().unwrap_or_else(|| rule.remedy.to_owned()),
            place: place(&group),
            waived: None,
        })
    };
    groups.into_iter().filter_map(found).collect()
}

/// Returns the first of the strongest.
fn strongest(group: &[Seen]) -> Option<&Seen> {
    group.iter().rev().max_by(|a, b| a.size.total_cmp(&b.size))
}

/// Returns every place in which it was seen.
fn place(group: &[Seen]) -> Place {
    let all = |part: fn(&Place) -> &Vec<String>| {
        let names: BTreeSet<&String> = group.iter().flat_map(|one| part(&one.place)).collect();
        names.into_iter().cloned().collect()
    };
    Place {
        steps: all(|place| &place.steps),
        variants: all(|place| &place.variants),
        runs: all(|place| &place.runs),
    }
}

/// Returns `readrandom of b: steal of 1.2 %, likewise in 1 other variant (3 runs)`.
fn words(strongest: &Seen, group: &[Seen], told: Told) -> String {
    let all = place(group);
    let own = &strongest.place;
    let is_told = told == Told::All;
    let mut words = match (&own.steps[..], &own.variants[..]) {
        ([], []) => String::new(),
        ([step, ..], [variant, ..]) if is_told => format!("{step} of {variant}: "),
        ([], [variant, ..]) if is_told => format!("{variant}: "),
        ([step, ..], _) => format!("{step}: "),
        ([], _) => String::new(),
    };
    words.push_str(&strongest.evidence);
    let mut others = Vec::new();
    others.extend(counted(all.steps.len() - own.steps.len(), "other step"));
    others.extend(counted(all.variants.len() - own.variants.len(), "other variant"));
    if !others.is_empty() {
        words.push_str(&format!(", likewise in {}", others.join(" and ")));
    }
    if let Some(runs) = counted(all.runs.len(), "run").filter(|_| is_told) {
        words.push_str(&format!(" ({runs})"));
    }
    words
}

/// Returns a number of things in words; `None` for none.
fn counted(count: usize, thing: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {thing}")),
        _ => Some(format!("{count} {thing}s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static RULE: Rule = Rule { code: "A999", name: "sample", remedy: "mend it", ..Rule::SILENT };

    fn evidence(step: &str, variant: &str, run: &str, size: f64) -> Seen {
        let evidence = Seen::new(format!("{size} of it")).step(step).variant(variant).run(run);
        evidence.sized("", size)
    }

    fn told(evidence: Vec<Seen>, told: Told) -> Vec<String> {
        gathered(&RULE, evidence, told).into_iter().map(|found| found.evidence).collect()
    }

    #[test]
    fn equals_are_one_finding_that_tells_the_strongest() {
        let all = vec![
            evidence("read", "a", "a.r1", 1.0),
            evidence("read", "b", "b.r1", 3.0),
            evidence("write", "b", "b.r2", 3.0),
        ];
        let found = gathered(&RULE, all.clone(), Told::All);
        let [one] = &found[..] else { panic!("{found:?}") };
        let expected = "read of b: 3 of it, likewise in 1 other step and 1 other variant (3 runs)";
        assert_eq!((one.evidence.as_str(), one.remedy.as_str()), (expected, "mend it"));
        assert_eq!(one.place.steps, ["read", "write"]);
        assert_eq!(one.place.runs, ["a.r1", "b.r1", "b.r2"]);
        assert_eq!(told(all[..1].to_vec(), Told::All), ["read of a: 1 of it (1 run)"]);
        assert_eq!(told(all[..1].to_vec(), Told::Steps), ["read: 1 of it"]);
    }

    #[test]
    fn what_is_graver_or_of_another_kind_is_told_apart() {
        let all = vec![
            evidence("read", "a", "a.r1", 1.0),
            evidence("read", "a", "a.r1", 2.0).graded(Severity::Blocking),
            evidence("read", "a", "a.r1", 3.0).sized("other", 3.0),
        ];
        assert_eq!(told(all, Told::All).len(), 3);
        assert_eq!(told(vec![Seen::new("everywhere")], Told::All), ["everywhere"]);
    }
}
