//! Doubts that the records themselves hold: runs that are missing, and what the runner found.

use std::collections::{BTreeMap, BTreeSet};

use model::record::Finding;
use model::{Experiment, RunRecord};

use super::list::{Doubt, doubt};
use super::place::runs_of;

/// Tells of variants with fewer runs than were planned.
pub(super) fn missing(runs: &[RunRecord], experiment: &Experiment) -> Vec<Doubt> {
    let planned = experiment.clients.len().max(1) * experiment.repetitions as usize;
    let lacking = experiment.variants.iter().filter_map(|variant| {
        let recorded = runs.iter().filter(|run| run.cell.variant == variant.name).count();
        (recorded < planned).then(|| {
            doubt(
                format!("{} has {recorded} of {planned} planned runs", variant.name),
                "resume the experiment to execute the rest",
            )
        })
    });
    lacking.collect()
}

/// Returns the findings written into the records: each once per step, as first seen, with the
/// variants and the number of runs that have it.
pub(super) fn findings(runs: &[&RunRecord]) -> Vec<Doubt> {
    let mut found: BTreeMap<(&str, &str), Vec<(&str, &Finding)>> = BTreeMap::new();
    for (run, step) in runs.iter().flat_map(|run| run.steps.iter().map(move |step| (run, step))) {
        for finding in &step.findings {
            let place = (finding.code.as_str(), step.step.name.as_str());
            found.entry(place).or_default().push((&run.cell.variant, finding));
        }
    }
    let tell = |((code, step), seen): ((&str, &str), Vec<(&str, &Finding)>)| {
        let worst = seen.iter().map(|(_, finding)| finding.severity).max()?;
        let (variant, first) = seen.iter().find(|(_, finding)| finding.severity == worst)?;
        let others: BTreeSet<&str> =
            seen.iter().map(|(name, _)| *name).filter(|name| name != variant).collect();
        let others = match others.len() {
            0 => String::new(),
            1 => ", likewise in 1 other variant".to_owned(),
            count => format!(", likewise in {count} other variants"),
        };
        let runs = runs_of(seen.len());
        let seen = format!("{code} {step} of {variant}: {}{others} ({runs})", first.seen);
        Some(Doubt { severity: worst, seen, remedy: first.remedy.clone() })
    };
    found.into_iter().filter_map(tell).collect()
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::doubt::all;
    use crate::sample::{experiment, run};

    fn seen(runs: &[RunRecord], experiment: &Experiment) -> Vec<String> {
        all(runs, experiment).into_iter().map(|doubt| doubt.seen).collect()
    }

    #[test]
    fn recorded_findings_are_told() {
        let mut runs = [run("a", 1, 5), run("a", 2, 5), run("b", 1, 5), run("b", 2, 5)];
        for run in &mut runs[2..] {
            run.steps[0].findings.push(Finding {
                code: "A021".to_owned(),
                severity: Severity::Doubt,
                seen: "steal of 1.2 %".to_owned(),
                remedy: "repeat on a quiet host".to_owned(),
            });
        }
        let told = seen(&runs, &experiment(&["a", "b"], 2));
        assert_eq!(told, ["A021 readrandom of b: steal of 1.2 % (2 runs)"]);
        runs[0].steps[0].findings = runs[2].steps[0].findings.clone();
        let told = seen(&runs, &experiment(&["a", "b"], 2));
        let likewise = "A021 readrandom of a: steal of 1.2 %, likewise in 1 other variant (3 runs)";
        assert_eq!(told, [likewise]);
    }
}
