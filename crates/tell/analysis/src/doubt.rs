//! What a reader must know before using a comparison: seen, with figures, and what to do.
//!
//! Not lint: these are the doubts a comparison cannot be read without. Rules with codes and
//! evidence live in the lint crate once it exists.

use std::collections::{BTreeMap, BTreeSet};

use model::{Durability, Experiment, RunRecord, StepRecord};
use serde::Serialize;

use crate::metrics::failed_operations;

/// A background writer below this share of its rate did not sustain it.
///
/// Source: M. Callaghan, insert benchmark: a step sustains its target at >= 95 % of it.
pub const SUSTAINED_SHARE: f64 = 0.95;

/// One doubt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Doubt {
    /// What was seen, with the figures.
    pub seen: String,
    /// What to do about it.
    pub remedy: String,
}

/// Returns every doubt about the runs, the gravest kinds first, in a fixed order.
#[must_use]
pub fn all(runs: &[RunRecord], experiment: &Experiment) -> Vec<Doubt> {
    let mut doubts = failures(runs);
    doubts.extend(durability(experiment));
    doubts.extend(missing(runs, experiment));
    doubts.extend(few_repetitions(experiment));
    doubts.extend(not_sustained(runs));
    doubts.extend(stalled(runs));
    doubts.extend(capped(runs));
    doubts.extend(recorded(runs));
    doubts
}

fn doubt(seen: String, remedy: &str) -> Doubt {
    Doubt { seen, remedy: remedy.to_owned() }
}

/// Variant and step: what doubts about steps are grouped by.
type Place = (String, String);

/// Groups what `look` finds in the runs' steps by variant and step.
fn by_place<T>(
    runs: &[RunRecord],
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

fn failures(runs: &[RunRecord]) -> Vec<Doubt> {
    let failed = by_place(runs, |step| Some(failed_operations(step)).filter(|failed| *failed > 0));
    let tell = |((variant, step), counts): (Place, Vec<u64>)| {
        let (total, runs) = (counts.iter().sum::<u64>(), counts.len());
        doubt(
            format!("{total} operations failed in {step} of {variant} ({})", runs_of(runs)),
            "failed operations are never counted as done; read the engine's log of these runs",
        )
    };
    failed.into_iter().map(tell).collect()
}

fn durability(experiment: &Experiment) -> Option<Doubt> {
    let classes: BTreeSet<Durability> =
        experiment.variants.iter().map(|variant| variant.settings.durability).collect();
    let names: Vec<&str> = classes.iter().map(|class| class.name()).collect();
    (classes.len() > 1).then(|| {
        doubt(
            format!("the variants' durability classes differ: {}", names.join(", ")),
            "give all variants one class, or make the difference the question",
        )
    })
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

fn few_repetitions(experiment: &Experiment) -> Option<Doubt> {
    (experiment.repetitions < 2).then(|| {
        doubt(
            "every cell was run once: run-to-run noise is unknown and no difference is shown to \
             be one"
                .to_owned(),
            "set `repetitions` to 3 or more",
        )
    })
}

fn not_sustained(runs: &[RunRecord]) -> Vec<Doubt> {
    let short = by_place(runs, |step| {
        let reached = step.writer_bytes_per_s?;
        let asked = step.step.writer_bytes_per_s?.as_mib();
        let share = reached / 1_048_576.0 / asked;
        (asked > 0.0 && share < SUSTAINED_SHARE).then_some(share)
    });
    let tell = |((variant, step), shares): (Place, Vec<f64>)| {
        let worst = shares.iter().copied().fold(f64::INFINITY, f64::min);
        doubt(
            format!(
                "the background writer of {variant} did not sustain its rate in {step}: {:.0} % \
                 of it at worst ({})",
                100.0 * worst,
                runs_of(shares.len())
            ),
            "the readers had less to compete with than in other variants; lower the writer's rate",
        )
    };
    short.into_iter().map(tell).collect()
}

fn stalled(runs: &[RunRecord]) -> Vec<Doubt> {
    let stalled = by_place(runs, |step| Some(step.seconds.stalled_seconds).filter(|it| *it > 0));
    let tell = |((variant, step), seconds): (Place, Vec<u64>)| {
        doubt(
            format!(
                "{variant} did nothing in {} whole seconds of {step} ({})",
                seconds.iter().sum::<u64>(),
                runs_of(seconds.len())
            ),
            "a mean hides this: look at the throughput second by second",
        )
    };
    stalled.into_iter().map(tell).collect()
}

fn capped(runs: &[RunRecord]) -> Vec<Doubt> {
    let capped =
        by_place(runs, |step| step.settle.as_ref().filter(|one| one.is_capped).map(|_| ()));
    let tell = |((variant, step), seen): (Place, Vec<()>)| {
        doubt(
            format!(
                "{variant} had not settled when the cap of {step} was reached ({})",
                runs_of(seen.len())
            ),
            "later steps pay for what is left: raise the cap of the settle",
        )
    };
    capped.into_iter().map(tell).collect()
}

/// Returns the findings written into the records, each once with the number of runs that have it.
fn recorded(runs: &[RunRecord]) -> Vec<Doubt> {
    let mut found: BTreeMap<(String, String, String), BTreeSet<&str>> = BTreeMap::new();
    for run in runs {
        for finding in run.steps.iter().flat_map(|step| &step.findings) {
            let key = (finding.code.clone(), finding.seen.clone(), finding.remedy.clone());
            found.entry(key).or_default().insert(&run.id);
        }
    }
    let tell = |((code, seen, remedy), runs): (_, BTreeSet<&str>)| Doubt {
        seen: format!("{code} {seen} ({})", runs_of(runs.len())),
        remedy,
    };
    found.into_iter().map(tell).collect()
}

fn runs_of(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}

#[cfg(test)]
mod tests {
    use model::record::{Finding, SettleRecord, Severity};
    use model::{Bytes, Nanos, OpKind};

    use super::*;
    use crate::sample::{experiment, run};

    fn seen(runs: &[RunRecord], experiment: &Experiment) -> Vec<String> {
        all(runs, experiment).into_iter().map(|doubt| doubt.seen).collect()
    }

    #[test]
    fn runs_without_trouble_give_no_doubt() {
        let runs = [run("a", 1, 5), run("a", 2, 5)];
        assert_eq!(seen(&runs, &experiment(&["a"], 2)), [""; 0]);
    }

    #[test]
    fn failed_operations_are_summed_over_runs() {
        let mut runs = [run("a", 1, 5), run("a", 2, 5)];
        for run in &mut runs {
            run.steps[0].clients.get_mut(&OpKind::Get).unwrap().counts.failed = 3;
        }
        let told = seen(&runs, &experiment(&["a"], 2));
        assert_eq!(told, ["6 operations failed in readrandom of a (2 runs)"]);
    }

    #[test]
    fn a_writer_below_95_percent_is_not_sustained() {
        let mut runs = [run("a", 1, 5), run("a", 2, 5)];
        for (run, reached) in runs.iter_mut().zip([1.96, 1.5]) {
            run.steps[0].step.writer_bytes_per_s = Some(Bytes(2 << 20));
            run.steps[0].writer_bytes_per_s = Some(reached * 1_048_576.0);
        }
        let told = seen(&runs, &experiment(&["a"], 2));
        let [only] = &told[..] else { panic!("{told:?}") };
        assert!(only.ends_with("75 % of it at worst (1 run)"), "{only}");
    }

    #[test]
    fn seconds_in_which_nothing_was_done_are_told() {
        let mut runs = [run("a", 1, 5), run("a", 2, 5)];
        runs[1].steps[0].seconds.stalled_seconds = 4;
        let told = seen(&runs, &experiment(&["a"], 2));
        assert_eq!(told, ["a did nothing in 4 whole seconds of readrandom (1 run)"]);
    }

    #[test]
    fn a_capped_settle_a_recorded_finding_and_mixed_durability_are_told() {
        let mut runs = [run("a", 1, 5), run("a", 2, 5), run("b", 1, 5), run("b", 2, 5)];
        let took_ns = Nanos::from_secs(60);
        runs[0].steps[0].settle = Some(SettleRecord { took_ns, is_capped: true, stages: vec![] });
        for run in &mut runs[2..] {
            run.steps[0].findings.push(Finding {
                code: "A021".to_owned(),
                severity: Severity::Doubt,
                seen: "steal of 1.2 %".to_owned(),
                remedy: "repeat on a quiet host".to_owned(),
            });
        }
        let mut asked = experiment(&["a", "b"], 2);
        asked.variants[1].settings.durability = Durability::Sync;
        let expected = [
            "the variants' durability classes differ: os, sync",
            "a had not settled when the cap of readrandom was reached (1 run)",
            "A021 steal of 1.2 % (2 runs)",
        ];
        assert_eq!(seen(&runs, &asked), expected);
    }
}
