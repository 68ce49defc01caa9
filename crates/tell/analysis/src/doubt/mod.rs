//! What a reader must know before using a comparison: seen, with figures, and what to do.
//!
//! Not lint: these are the doubts a comparison cannot be read without. What the runner saw in one
//! step (a writer that fell behind, a capped settle, failed operations) is in the record already
//! and is passed on. What is doubtful by design (classes that differ, few repetitions) the planner
//! finds before anything is run. Rules with codes and evidence live in the lint crate once it
//! exists; a code `A0nn` is that of rule `Lnn` in the project's reference, analysis, section 7.
//!
//! To add one, add a function to the file of its subject and a line to [`all`].

mod client;
mod search;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::record::{Finding, Severity};
use model::{Experiment, RunRecord, StepRecord};
use serde::Serialize;

/// One doubt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Doubt {
    /// How grave it is.
    pub severity: Severity,
    /// What was seen, with the figures.
    pub seen: String,
    /// What to do about it.
    pub remedy: String,
}

/// Returns every doubt about the runs, the gravest first, in a fixed order.
///
/// Of a run that is invalid only this is told: what else was seen in it was not the engine's doing.
#[must_use]
pub fn all(runs: &[RunRecord], experiment: &Experiment) -> Vec<Doubt> {
    let counted: Vec<&RunRecord> = runs.iter().filter(|run| run.invalid.is_none()).collect();
    let mut doubts = client::invalid(runs);
    doubts.extend(client::client_bound(&counted));
    doubts.extend(failures(&counted));
    doubts.extend(missing(runs, experiment));
    doubts.extend(client::overloaded(&counted));
    doubts.extend(client::voided(&counted));
    doubts.extend(client::waiting(&counted));
    doubts.extend(search::found_nothing(&counted));
    doubts.extend(search::path_dependent(&counted));
    doubts.extend(search::not_failed_above(&counted));
    doubts.extend(search::undecided(&counted));
    doubts.extend(stalled(&counted));
    doubts.extend(recorded(&counted));
    doubts.extend(client::omission(&counted));
    doubts.sort_by_key(|doubt| Reverse(doubt.severity));
    doubts
}

fn doubt(seen: String, remedy: &str) -> Doubt {
    graded(Severity::Doubt, seen, remedy)
}

fn graded(severity: Severity, seen: String, remedy: &str) -> Doubt {
    Doubt { severity, seen, remedy: remedy.to_owned() }
}

/// Variant and step: what doubts about steps are grouped by.
type Place = (String, String);

/// Groups what `look` finds in the runs' steps by variant and step.
fn by_place<T>(
    runs: &[&RunRecord],
    look: impl Fn(&StepRecord) -> Option<T>,
) -> BTreeMap<Place, Vec<T>> {
    let mut found: BTreeMap<Place, Vec<T>> = BTreeMap::new();
    for (run, step) in runs.iter().flat_map(|run| run.steps.iter().map(move |step| (run, step))) {
        if let Some(seen) = look(step) {
            let place = (run.cell.variant.clone(), step.step.name.clone());
            found.entry(place).or_default().push(seen);
        }
    }
    found
}

/// As [`by_place`], for a doubt with a code: steps whose record has a finding of that code are
/// left to it.
fn coded_by_place<T>(
    runs: &[&RunRecord],
    code: &str,
    look: impl Fn(&StepRecord) -> Option<T>,
) -> BTreeMap<Place, Vec<T>> {
    by_place(runs, |step| {
        let is_told = step.findings.iter().any(|finding| finding.code == code);
        if is_told { None } else { look(step) }
    })
}

/// Tells of failed writes in the background: failures of the clients are findings of the record.
fn failures(runs: &[&RunRecord]) -> Vec<Doubt> {
    let of_writers = |step: &StepRecord| step.writers.values().map(|one| one.counts.failed).sum();
    let failed = by_place(runs, |step| Some(of_writers(step)).filter(|failed: &u64| *failed > 0));
    let tell = |((variant, step), counts): (Place, Vec<u64>)| {
        let total = counts.iter().sum::<u64>();
        let runs = runs_of(counts.len());
        doubt(
            format!(
                "{total} writes of the background writer failed in {step} of {variant} ({runs})"
            ),
            "they are not counted as done; read the engine's log of these runs",
        )
    };
    failed.into_iter().map(tell).collect()
}

fn missing(runs: &[RunRecord], experiment: &Experiment) -> Vec<Doubt> {
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

fn stalled(runs: &[&RunRecord]) -> Vec<Doubt> {
    let look = |step: &StepRecord| {
        let seconds = step.seconds.stalled_seconds;
        (seconds > 0).then_some((seconds, step.voided.is_some()))
    };
    let tell = |((variant, step), seen): (Place, Vec<(u64, bool)>)| {
        // The record does not tell which of them were void.
        let has_void = seen.iter().any(|(_, has_void)| *has_void);
        let void = if has_void { ", void ones among them" } else { "" };
        doubt(
            format!(
                "{variant} did nothing in {} whole seconds of {step}{void} ({})",
                seen.iter().map(|(seconds, _)| seconds).sum::<u64>(),
                runs_of(seen.len())
            ),
            "a mean hides this: look at the throughput second by second",
        )
    };
    by_place(runs, look).into_iter().map(tell).collect()
}

/// Returns the findings written into the records: each once per variant and step, as first seen,
/// with the number of runs that have it.
fn recorded(runs: &[&RunRecord]) -> Vec<Doubt> {
    let mut found: BTreeMap<(&str, &str, &str), Vec<&Finding>> = BTreeMap::new();
    for (run, step) in runs.iter().flat_map(|run| run.steps.iter().map(move |step| (run, step))) {
        for finding in &step.findings {
            let place = (finding.code.as_str(), run.cell.variant.as_str(), step.step.name.as_str());
            found.entry(place).or_default().push(finding);
        }
    }
    let tell = |((code, variant, step), seen): ((&str, &str, &str), Vec<&Finding>)| {
        let (first, runs) = (seen.first()?, runs_of(seen.len()));
        let seen = format!("{code} {step} of {variant}: {} ({runs})", first.seen);
        Some(Doubt { severity: first.severity, seen, remedy: first.remedy.clone() })
    };
    found.into_iter().filter_map(tell).collect()
}

fn runs_of(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{experiment, run, summary};
    use model::OpKind;

    fn seen(runs: &[RunRecord], experiment: &Experiment) -> Vec<String> {
        all(runs, experiment).into_iter().map(|doubt| doubt.seen).collect()
    }

    #[test]
    fn runs_without_trouble_give_no_doubt() {
        let runs = [run("a", 1, 5), run("a", 2, 5)];
        assert_eq!(seen(&runs, &experiment(&["a"], 2)), [""; 0]);
    }

    #[test]
    fn failed_writes_in_the_background_are_summed_over_runs() {
        let mut runs = [run("a", 1, 5), run("a", 2, 5)];
        for run in &mut runs {
            let mut failing = summary(5, 5);
            failing.counts.failed = 3;
            run.steps[0].writers.insert(OpKind::Put, failing);
        }
        let told = seen(&runs, &experiment(&["a"], 2));
        assert_eq!(told, ["6 writes of the background writer failed in readrandom of a (2 runs)"]);
    }

    #[test]
    fn seconds_in_which_nothing_was_done_are_told() {
        let mut runs = [run("a", 1, 5), run("a", 2, 5)];
        runs[1].steps[0].seconds.stalled_seconds = 4;
        let told = seen(&runs, &experiment(&["a"], 2));
        assert_eq!(told, ["a did nothing in 4 whole seconds of readrandom (1 run)"]);
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
    }
}
