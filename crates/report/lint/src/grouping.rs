//! Groups the observations of a rule into findings.

use std::collections::BTreeSet;

use model::record::Severity;

use crate::finding::{LintFinding, Place};
use crate::rule::{Observation, Rule};

/// The part of a place that the evidence names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceDetail {
    /// Steps, of a single run.
    Steps,
    /// Steps, variants and the number of runs.
    All,
}

/// Returns the observations of `rule` as findings, one per kind and severity.
///
/// A finding shows its strongest observation, and counts the others; findings are in the order of
/// their first observations.
pub(crate) fn group(
    rule: &'static Rule,
    observations: Vec<Observation>,
    detail: PlaceDetail,
) -> Vec<LintFinding> {
    let mut groups: Vec<((&str, Severity), Vec<Observation>)> = Vec::new();
    for one in observations {
        let key = (one.kind, one.severity.unwrap_or(rule.severity));
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    let found = |((_, severity), group): ((&str, Severity), Vec<Observation>)| {
        let strongest = strongest(&group)?;
        Some(LintFinding {
            code: rule.code,
            name: rule.name,
            severity,
            evidence: describe(strongest, &group, detail),
            remedy: strongest.remedy.clone().unwrap_or_else(|| rule.remedy.to_owned()),
            place: place(&group),
            places: places(&group),
            waived: None,
        })
    };
    groups.into_iter().filter_map(found).collect()
}

/// Returns the first of the strongest.
fn strongest(group: &[Observation]) -> Option<&Observation> {
    group.iter().rev().max_by(|a, b| a.size.total_cmp(&b.size))
}

/// Returns the places of all observations together.
fn place(group: &[Observation]) -> Place {
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

/// Returns the different places of the observations, without runs.
fn places(group: &[Observation]) -> Vec<Place> {
    let of = |one: &Observation| Place { runs: Vec::new(), ..one.place.clone() };
    group.iter().map(of).collect::<BTreeSet<Place>>().into_iter().collect()
}

/// Returns `readrandom of b: steal of 1.2 %, likewise in 1 other variant (3 runs)`.
fn describe(strongest: &Observation, group: &[Observation], detail: PlaceDetail) -> String {
    let all = place(group);
    let own = &strongest.place;
    let is_full = detail == PlaceDetail::All;
    let mut text = match (&own.steps[..], &own.variants[..]) {
        ([step, ..], [variant, ..]) if is_full => format!("{step} of {variant}: "),
        ([], [variant, ..]) if is_full => format!("{variant}: "),
        ([step, ..], _) => format!("{step}: "),
        ([], _) => String::new(),
    };
    text.push_str(&strongest.evidence);
    let mut others = Vec::new();
    others.extend(count_of(all.steps.len() - own.steps.len(), "other step"));
    others.extend(count_of(all.variants.len() - own.variants.len(), "other variant"));
    if !others.is_empty() {
        text.push_str(&format!(", likewise in {}", others.join(" and ")));
    }
    if let Some(runs) = count_of(all.runs.len(), "run").filter(|_| is_full) {
        text.push_str(&format!(" ({runs})"));
    }
    text
}

/// Returns `1 run`, `2 runs`; `None` for none.
fn count_of(count: usize, thing: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {thing}")),
        _ => Some(format!("{count} {thing}s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::find;

    fn rule() -> &'static Rule {
        find("A050").unwrap()
    }

    fn observation(step: &str, variant: &str, run: &str, size: f64) -> Observation {
        let one = Observation::new(format!("{size} of it")).step(step).variant(variant).run(run);
        one.ranked("", size)
    }

    fn texts(observations: Vec<Observation>, detail: PlaceDetail) -> Vec<String> {
        group(rule(), observations, detail).into_iter().map(|found| found.evidence).collect()
    }

    #[test]
    fn equal_observations_are_one_finding_that_shows_the_strongest() {
        let all = vec![
            observation("read", "a", "a.r1", 1.0),
            observation("read", "b", "b.r1", 3.0),
            observation("write", "b", "b.r2", 3.0),
        ];
        let found = group(rule(), all.clone(), PlaceDetail::All);
        let [one] = &found[..] else { panic!("{found:?}") };
        let expected = "read of b: 3 of it, likewise in 1 other step and 1 other variant (3 runs)";
        assert_eq!((one.evidence.as_str(), one.remedy.as_str()), (expected, rule().remedy));
        assert_eq!(one.place.steps, ["read", "write"]);
        assert_eq!(one.place.runs, ["a.r1", "b.r1", "b.r2"]);
        assert_eq!(texts(all[..1].to_vec(), PlaceDetail::All), ["read of a: 1 of it (1 run)"]);
        assert_eq!(texts(all[..1].to_vec(), PlaceDetail::Steps), ["read: 1 of it"]);
    }

    #[test]
    fn other_kinds_and_severities_are_findings_of_their_own() {
        let all = vec![
            observation("read", "a", "a.r1", 1.0),
            observation("read", "a", "a.r1", 2.0).severity(Severity::Blocking),
            observation("read", "a", "a.r1", 3.0).ranked("other", 3.0),
        ];
        assert_eq!(texts(all, PlaceDetail::All).len(), 3);
        assert_eq!(texts(vec![Observation::new("everywhere")], PlaceDetail::All), ["everywhere"]);
    }
}
