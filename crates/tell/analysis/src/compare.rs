//! Compares variants step by step, each with the base case.

use std::collections::{BTreeMap, BTreeSet};

use model::metric::Readings;
use model::record::RunEnd;
use model::{Experiment, Load, RunRecord};
use stats::{Design, judge};

use crate::comparison::{
    CellComparison, Comparison, IncompleteRun, InvalidRun, Measured, RunsComparison,
    StepComparison, VariantRuns, is_given,
};
use crate::doubt;
use crate::error::AnalysisError;
use crate::ledger::Ledger;
use crate::metrics::{run_metrics, step_metrics};
use crate::stat::Spread;

/// Compares the variants of `experiment` with `base`, step by step.
///
/// A step counts when its record was written, whether or not its run later came to an end before
/// time: what was measured is not thrown away. Such a run is listed in
/// [`Comparison::incomplete`], and is left out where only whole runs can tell. A run that is
/// invalid is listed in [`Comparison::invalid`], and nothing of it counts. A metric that the
/// experiment gives ([`is_given`]) has no ratio to the base.
///
/// # Errors
/// When there are no runs, the base or a run's variant is not in the experiment, or the records
/// are of different schema versions.
///
/// Source: [`Spread::of`] and [`judge`].
pub fn compare(
    runs: &[RunRecord],
    experiment: &Experiment,
    base: &str,
    _ledger: &Ledger,
) -> Result<Comparison, AnalysisError> {
    check(runs, experiment, base)?;
    let names: Vec<&str> = experiment.variants.iter().map(|one| one.name.as_str()).collect();
    let design = Design {
        margin: experiment.margin,
        prior: None,
        is_paired: false,
        assumed_cov: ASSUMED_COV,
    };
    let table = Table { names: &names, base, design };
    let mut by_step = Samples::new();
    let mut by_run = Samples::new();
    let mut given = BTreeSet::new();
    for run in runs.iter().filter(|run| run.invalid.is_none()) {
        let level = run.cell.clients;
        for step in &run.steps {
            let key = (level, step.index, step.step.name.clone());
            if matches!(step.step.load, Load::Open(_)) {
                given.insert(key.clone());
            }
            by_step.add(key, &run.cell.variant, step_metrics(step, &experiment.data));
        }
        if run.end.is_complete() {
            let key = (level, 0, String::new());
            by_run.add(key, &run.cell.variant, run_metrics(run, &experiment.data));
        }
    }
    let step = |(key, of_variant): (Key, _)| {
        let is_rate_given = given.contains(&key);
        let has_ratio = |metric: &str| !(is_rate_given && is_given(metric));
        let cells = table.cells(&of_variant, &has_ratio);
        let (clients, index, name) = key;
        StepComparison { index, name, clients, is_rate_given, primary: None, cells }
    };
    let whole = |((clients, _, _), of_variant): (Key, _)| RunsComparison {
        clients,
        cells: table.cells(&of_variant, &|_| true),
    };
    Ok(Comparison {
        base: base.to_owned(),
        margin: experiment.margin,
        repetitions: experiment.repetitions,
        variants: variant_runs(runs, experiment),
        steps: by_step.0.into_iter().map(step).collect(),
        runs: by_run.0.into_iter().map(whole).collect(),
        incomplete: runs.iter().filter_map(incomplete).collect(),
        invalid: runs.iter().filter_map(invalid).collect(),
        doubts: doubt::all(runs, experiment),
        ..Comparison::default()
    })
}

/// Run-to-run coefficient of variation to assume where nothing is known of the noise.
///
/// Source: the project's reference, analysis, section 1.5.
const ASSUMED_COV: f64 = 0.025;

/// Level of clients, index and name of a step.
type Key = (u32, u32, String);

/// Metrics of each counted run, by step and variant.
struct Samples(BTreeMap<Key, BTreeMap<String, Vec<Readings>>>);

impl Samples {
    const fn new() -> Self {
        Self(BTreeMap::new())
    }

    fn add(&mut self, key: Key, variant: &str, metrics: Readings) {
        self.0.entry(key).or_default().entry(variant.to_owned()).or_default().push(metrics);
    }
}

/// The variants in order, and which of them is the base.
struct Table<'a> {
    names: &'a [&'a str],
    base: &'a str,
    design: Design<'a>,
}

impl Table<'_> {
    fn cells(
        &self,
        of_variant: &BTreeMap<String, Vec<Readings>>,
        has_ratio: &dyn Fn(&str) -> bool,
    ) -> Vec<CellComparison> {
        let values_of =
            |name: &str| values(of_variant.get(name).map(Vec::as_slice).unwrap_or_default());
        let base = values_of(self.base);
        let cell = |name: &&str| {
            let is_base = *name == self.base;
            let versus = |metric: &str, own: &[f64]| {
                let base = base.get(metric).filter(|_| !is_base && has_ratio(metric));
                base.and_then(|base| judge(base, own, &self.design))
            };
            let measured = values_of(name).into_iter().filter_map(|(metric, own)| {
                let versus_base = versus(metric, &own);
                let spread = Spread::of(&own)?;
                Some((metric.to_owned(), Measured { spread, versus_base }))
            });
            CellComparison {
                variant: (*name).to_owned(),
                runs: of_variant.get(*name).map_or(0, |runs| count(runs.len())),
                metrics: measured.collect(),
            }
        };
        self.names.iter().map(cell).collect()
    }
}

/// Returns the values of each metric, one for each run that knows it.
fn values(runs: &[Readings]) -> BTreeMap<&str, Vec<f64>> {
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (metric, value) in runs.iter().flatten() {
        values.entry(metric).or_default().push(*value);
    }
    values
}

fn check(runs: &[RunRecord], experiment: &Experiment, base: &str) -> Result<(), AnalysisError> {
    let first = runs.first().ok_or(AnalysisError::NoRuns)?;
    if experiment.variant(base).is_none() {
        let known = experiment.variants.iter().map(|variant| variant.name.clone()).collect();
        return Err(AnalysisError::UnknownBase { base: base.to_owned(), known });
    }
    for run in runs {
        if run.schema != first.schema {
            let (found, expected) = (run.schema, first.schema);
            return Err(AnalysisError::Schema { run: run.id.clone(), found, expected });
        }
        if experiment.variant(&run.cell.variant).is_none() {
            let (run, variant) = (run.id.clone(), run.cell.variant.clone());
            return Err(AnalysisError::UnknownVariant { run, variant });
        }
    }
    Ok(())
}

fn variant_runs(runs: &[RunRecord], experiment: &Experiment) -> Vec<VariantRuns> {
    let planned = count(experiment.clients.len()).max(1) * experiment.repetitions;
    let of_variant = |variant: &model::Variant| {
        let own: Vec<&RunEnd> = runs
            .iter()
            .filter(|run| run.cell.variant == variant.name)
            .map(|run| &run.end)
            .collect();
        VariantRuns {
            name: variant.name.clone(),
            durability: variant.settings.durability,
            planned,
            recorded: count(own.len()),
            complete: count(own.iter().filter(|end| end.is_complete()).count()),
        }
    };
    experiment.variants.iter().map(of_variant).collect()
}

fn incomplete(run: &RunRecord) -> Option<IncompleteRun> {
    (!run.end.is_complete() && run.invalid.is_none()).then(|| IncompleteRun {
        run: run.id.clone(),
        variant: run.cell.variant.clone(),
        how: run.end.phrase(),
        steps_counted: count(run.steps.len()),
    })
}

fn invalid(run: &RunRecord) -> Option<InvalidRun> {
    run.invalid.as_ref().map(|reason| InvalidRun {
        run: run.id.clone(),
        variant: run.cell.variant.clone(),
        reason: reason.clone(),
    })
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use model::{OpenLoad, Pace, Rate};

    use stats::Verdict;

    use super::*;
    use crate::sample::{experiment, run, step};

    const NONE: Ledger = Ledger { experiments: Vec::new() };
    const METRIC: &str = "throughput_ops_per_s";

    fn three(variant: &str, ops: [u64; 3]) -> Vec<RunRecord> {
        (1..).zip(ops).map(|(repetition, ops)| run(variant, repetition, ops)).collect()
    }

    #[test]
    fn ratios_have_intervals_and_verdicts() {
        let mut runs = three("base", [1_000, 1_040, 980]);
        runs.extend(three("slow", [900, 890, 940]));
        runs.extend(three("same", [1_010, 1_030, 970]));
        runs.extend(three("fast", [3_500, 3_600, 3_400]));
        let asked = experiment(&["base", "slow", "same", "fast"], 3);
        let comparison = compare(&runs, &asked, "base", &NONE).unwrap();
        let cells = &comparison.steps[0].cells;
        let versus = |index: usize| cells[index].metrics[METRIC].versus_base;
        assert_eq!(versus(0), None);
        let verdicts: Vec<_> = (1..4).map(|index| versus(index).unwrap().verdict).collect();
        assert_eq!(verdicts, [Verdict::Below, Verdict::Inconclusive, Verdict::Above]);
        assert_eq!(comparison.runs_per_cell(), Some((3, 3)));
    }

    #[test]
    fn steps_an_incomplete_run_finished_are_counted_and_the_run_is_listed() {
        let mut runs = three("base", [1_000, 1_000, 1_000]);
        runs[1].end = RunEnd::Crashed { step: "overwrite".into(), reason: "signal 11".into() };
        runs[2].steps.push(step(1, "overwrite"));
        let comparison = compare(&runs, &experiment(&["base"], 3), "base", &NONE).unwrap();
        let counted: Vec<_> =
            comparison.steps.iter().map(|one| (one.name.as_str(), one.cells[0].runs)).collect();
        assert_eq!(counted, [("readrandom", 3), ("overwrite", 1)]);
        assert_eq!(comparison.runs[0].cells[0].runs, 2);
        let [only] = &comparison.incomplete[..] else { panic!("one run is incomplete") };
        assert_eq!(only.how, "crashed in overwrite: signal 11");
        assert_eq!(only.steps_counted, 1);
        assert_eq!((comparison.variants[0].recorded, comparison.variants[0].complete), (3, 2));
    }

    #[test]
    fn one_run_each_separates_nothing() {
        let runs = [run("base", 1, 1_000), run("fast", 1, 2_000)];
        let comparison = compare(&runs, &experiment(&["base", "fast"], 1), "base", &NONE).unwrap();
        let versus = comparison.steps[0].cells[1].metrics[METRIC].versus_base.unwrap();
        assert_eq!((versus.interval, versus.verdict), (None, Verdict::Inconclusive));
    }

    #[test]
    fn a_base_of_zero_gives_no_ratio() {
        let runs = [run("base", 1, 0), run("fast", 1, 2_000)];
        let comparison = compare(&runs, &experiment(&["base", "fast"], 1), "base", &NONE).unwrap();
        assert_eq!(comparison.steps[0].cells[1].metrics[METRIC].versus_base, None);
    }

    #[test]
    fn a_variant_without_runs_keeps_its_row() {
        let runs = three("base", [1, 2, 3]);
        let comparison = compare(&runs, &experiment(&["base", "late"], 3), "base", &NONE).unwrap();
        assert_eq!(comparison.steps[0].cells[1].runs, 0);
        assert!(comparison.steps[0].cells[1].metrics.is_empty());
        let seen = &comparison.doubts[0].seen;
        assert_eq!(seen, "late has 0 of 3 planned runs");
    }

    #[test]
    fn levels_of_clients_are_compared_apart() {
        let mut runs = three("base", [1, 2, 3]);
        runs[2].cell.clients = 4;
        let comparison = compare(&runs, &experiment(&["base"], 3), "base", &NONE).unwrap();
        assert_eq!(comparison.levels(), BTreeSet::from([1, 4]));
        assert_eq!(comparison.steps[0].cells[0].metrics[METRIC].spread.n, 2);
    }

    #[test]
    fn an_invalid_run_is_named_and_nothing_of_it_counts() {
        let mut runs = three("base", [1_000, 1_000, 90_000]);
        runs.extend(three("other", [2_000, 2_000, 2_000]));
        runs[2].invalid = Some("20 of 60 intervals are void".to_owned());
        runs[2].end = RunEnd::Interrupted { step: "overwrite".to_owned() };
        let comparison = compare(&runs, &experiment(&["base", "other"], 3), "base", &NONE).unwrap();
        let base = &comparison.steps[0].cells[0];
        assert_eq!((base.runs, base.metrics[METRIC].spread.max), (2, 500.0));
        assert_eq!(comparison.runs[0].cells[0].runs, 2);
        let [only] = &comparison.invalid[..] else { panic!("one run is invalid") };
        assert_eq!((only.run.as_str(), only.variant.as_str()), ("sample/base.c1.r3", "base"));
        assert_eq!(only.reason, "20 of 60 intervals are void");
        assert!(comparison.incomplete.is_empty());
    }

    #[test]
    fn a_rate_that_is_given_has_no_ratio_to_the_base() {
        let mut runs = [run("base", 1, 1_000), run("other", 1, 1_001)];
        for run in &mut runs {
            let step = &mut run.steps[0];
            let rate = Rate::constant(500.0);
            step.step.load = Load::Open(OpenLoad { rate, pace: Pace::default() });
            step.within_limit = Some(900);
        }
        let comparison = compare(&runs, &experiment(&["base", "other"], 1), "base", &NONE).unwrap();
        let step = &comparison.steps[0];
        let other = &step.cells[1].metrics;
        assert!(step.is_given(METRIC) && !step.is_given("goodput_ops_per_s"));
        assert_eq!(other[METRIC].versus_base, None);
        assert!(other["goodput_ops_per_s"].versus_base.is_some());
        assert!(other["response_ns_p50"].versus_base.is_some());
        let closed = three("base", [1, 2, 3]);
        let comparison = compare(&closed, &experiment(&["base"], 3), "base", &NONE).unwrap();
        assert!(!comparison.steps[0].is_given(METRIC));
    }

    #[test]
    fn errors_name_the_thing_and_the_remedy() {
        let asked = experiment(&["a", "b"], 1);
        assert_eq!(compare(&[], &asked, "a", &NONE), Err(AnalysisError::NoRuns));
        let mut runs = [run("a", 1, 1), run("b", 1, 1)];
        let said = compare(&runs, &asked, "c", &NONE).unwrap_err().to_string();
        assert_eq!(said, "no variant is named `c`; the variants are a, b");
        runs[1].schema += 1;
        let said = compare(&runs, &asked, "a", &NONE).unwrap_err().to_string();
        assert!(said.starts_with("run sample/b.c1.r1 has schema 2 and the others 1"), "{said}");
        let stranger = [run("z", 1, 1)];
        let said = compare(&stranger, &asked, "a", &NONE).unwrap_err().to_string();
        assert!(said.contains("variant `z`"), "{said}");
    }
}
