//! Comparison of variants with the base case, step by step.

use std::collections::BTreeMap;

use model::record::RunEnd;
use model::{Experiment, RunRecord, Variant, count, metric};
use stats::detectable::cov_of;
use stats::loads::means;
use stats::machines::classify_machines;
use stats::{Design, Effect, Spread, classify_difference, median};

use crate::comparison::{
    CellComparison, Comparison, Families, IncompleteRun, InvalidRun, Measured, PartComparison,
    RunsComparison, StepComparison, VariantRuns, is_given,
};
use crate::error::AnalysisError;
use crate::family;
use crate::machines::ratios::machine_factor;
use crate::machines::sides::OnMachines;
use crate::noise::{self, NoiseHistory, Question};
use crate::primary::primary;
use crate::published::check as check_published;
use crate::samples::{
    Key, Origin, PartSamples, Sample, VariantSamples, by_load, has_missed_rate, is_of_writers,
    numbers, run_samples, same_blocks, share_loads, step_samples,
};
use crate::trade_offs::trade_offs;

/// Compares the variants of `experiment` with `base`, step by step.
///
/// A finished step counts even when its run is incomplete; such a run is listed in
/// [`Comparison::incomplete`], and has no whole-run metrics. Nothing counts of an invalid run,
/// which is listed in [`Comparison::invalid`], and of an incomplete one that failed a check.
///
/// A metric with a given rate ([`is_given`]) has no ratio to the base; nor has a step in which
/// either side's background writers missed their rate. `noise_history` must not contain the runs
/// themselves: they would count twice.
///
/// # Errors
/// When there are no runs, the base or a run's variant is not in the experiment, or the records are
/// of different schema versions.
///
/// Source: [`classify_difference()`].
pub fn compare(
    runs: &[RunRecord],
    experiment: &Experiment,
    base: &str,
    noise_history: &NoiseHistory,
) -> Result<Comparison, AnalysisError> {
    check(runs, experiment, base)?;
    let counted = step_samples(runs, &experiment.data, experiment.application.as_ref());
    let whole_runs = run_samples(runs, &experiment.data, experiment.application.as_ref());
    let noise = noise::known(&counted, noise_history);
    let question = Question { experiment, base, noise: &noise };
    let step = |(key, samples): (&Key, &VariantSamples<'_>)| StepComparison {
        index: key.index,
        name: key.name.clone(),
        distribution: distribution(experiment, key.index),
        unit: experiment.steps.get(key.index as usize).map(|step| step.unit).unwrap_or_default(),
        clients: experiment.clients_of(key.index, key.clients),
        is_rate_given: samples.is_rate_given,
        is_preparatory: experiment.is_preparatory(&key.name),
        primary: primary(samples, experiment, &key.name),
        answers: experiment.answers(&key.name).map(|metric| metric.name).collect(),
        cells: question.cells(samples, samples),
        parts: question.parts(samples),
    };
    let whole = |(clients, samples): (&u32, &VariantSamples<'_>)| RunsComparison {
        clients: *clients,
        cells: question.cells(samples, samples),
    };
    let steps: Vec<StepComparison> = counted.iter().map(step).collect();
    let machines = machine_factor(&question, &steps, &counted, runs);
    let mut executed: Vec<&RunRecord> = runs.iter().collect();
    executed.sort_by_key(|run| (&run.started_at, &run.id));
    // A copy of the experiment's base is no control of another base.
    let is_its_base = base == experiment.base;
    let controls = experiment.variants.iter().filter(|one| one.is_control && is_its_base);
    let mut comparison = Comparison {
        base: base.to_owned(),
        control: controls.map(|variant| variant.name.clone()).next(),
        answer: experiment.answer.clone(),
        is_declared: !(experiment.measure.is_empty() && experiment.answer.is_empty()),
        margin: experiment.margin,
        repetitions: experiment.repetitions,
        variants: variant_runs(runs, experiment),
        steps,
        runs: whole_runs.iter().map(whole).collect(),
        answering: counted
            .keys()
            .map(|key| key.name.clone())
            .filter(|step| experiment.answers_question(step))
            .collect(),
        families: Families::default(),
        published: check_published(&question, &counted),
        trade_offs: trade_offs(&question, &whole_runs),
        cuts: Vec::new(),
        machines,
        incomplete: executed.iter().filter_map(|run| incomplete(run)).collect(),
        invalid: executed.iter().filter_map(|run| invalid(run)).collect(),
        noise,
    };
    comparison.families = family::adjust(&mut comparison, experiment);
    Ok(comparison)
}

/// Run-to-run CoV to assume where the noise is unknown.
///
/// Our choice: a cautious figure for repeated cached runs; it is used for planning alone, never for
/// an interval.
pub(crate) const ASSUMED_COV: f64 = 0.025;

/// The same for storage-bound steps, where CPU noise is hidden.
pub(crate) const ASSUMED_COV_IO_BOUND: f64 = 0.015;

/// Device reads per operation of a storage-bound step.
const IO_BOUND_READS_PER_OP: f64 = 0.5;

/// Fewest repetitions of a paired comparison.
///
/// Our choice: below five, pairs lose more in degrees of freedom than they gain.
pub(crate) const PAIRED_FROM: u32 = 5;

impl Question<'_> {
    /// Compares the parts of a step; the noise of steps is not that of their parts.
    fn parts(&self, step: &VariantSamples<'_>) -> Vec<PartComparison> {
        let noise = BTreeMap::new();
        let question = Question { experiment: self.experiment, base: self.base, noise: &noise };
        let of_part = |part: &PartSamples<'_>| PartComparison {
            name: part.name.clone(),
            cells: question.cells(&part.samples, step),
            plans: part.plans.clone(),
        };
        step.parts.iter().map(of_part).collect()
    }

    /// Returns every variant's cell, in the experiment's order; `step` has the samples of the whole
    /// step.
    fn cells(
        &self,
        samples: &VariantSamples<'_>,
        step: &VariantSamples<'_>,
    ) -> Vec<CellComparison> {
        let none = Sample::default();
        let of = |name: &str| samples.of_variant.get(name).unwrap_or(&none);
        let base = of(self.base);
        let assumed_cov = self.assumed_cov(step);
        let has_missed = |name: &str| step.of_variant.get(name).is_some_and(has_missed_rate);
        let cell = |variant: &Variant| {
            let sample = of(&variant.name);
            let is_base = variant.name == self.base;
            let has_missed = has_missed(self.base) || has_missed(&variant.name);
            let measured = sample.metrics.iter().filter_map(|(metric, own)| {
                let is_given = samples.is_rate_given && is_given(metric);
                let has_ratio = !(is_base || is_given || has_missed && !is_of_writers(metric));
                let versus = || self.versus(metric, base.values(metric), own, assumed_cov);
                let spread = Spread::of(&numbers(own))?;
                let versus_base = has_ratio.then(versus).flatten();
                Some((metric.clone(), Measured { spread, versus_base }))
            });
            let metrics = measured.collect();
            let loads = sample.loads();
            CellComparison { variant: variant.name.clone(), runs: sample.runs, loads, metrics }
        };
        self.experiment.variants.iter().map(cell).collect()
    }

    /// Compares a metric of two variants; `None` where there is no ratio.
    ///
    /// The runs of several machines are compared on each machine, and the machine is a random
    /// factor. A machine with the runs of one side does not count; without a machine that has both
    /// there is no ratio.
    pub(crate) fn versus(
        &self,
        metric: &str,
        base: &[(Origin<'_>, f64)],
        own: &[(Origin<'_>, f64)],
        assumed_cov: f64,
    ) -> Option<Effect> {
        let machines = OnMachines::of(base, own);
        if !machines.are_several() {
            return self.on_one_machine(metric, base, own, assumed_cov);
        }
        match machines.shared()[..] {
            [] => None,
            [(_, [base, own])] => self.on_one_machine(metric, base, own, assumed_cov),
            _ => {
                let effect = classify_machines(&machines.means()?, self.experiment.margin);
                effect.or_else(|| self.on_one_machine(metric, base, own, assumed_cov))
            }
        }
    }

    /// Compares a metric of two variants as runs of one machine.
    fn on_one_machine(
        &self,
        metric: &str,
        base: &[(Origin<'_>, f64)],
        own: &[(Origin<'_>, f64)],
        assumed_cov: f64,
    ) -> Option<Effect> {
        if let Some([base, own]) = loads_drawn(base, own) {
            // What was drawn are the loads: their noise is not that of runs.
            let margin = self.experiment.margin;
            let design = Design { margin, prior: None, is_paired: false, assumed_cov };
            return classify_difference(&means(&base)?, &means(&own)?, &design);
        }
        let design = Design {
            margin: self.experiment.margin,
            prior: self.noise.get(metric).map(|noise| &noise.prior),
            is_paired: self.experiment.repetitions >= PAIRED_FROM && is_block_by_block(base, own),
            assumed_cov,
        };
        classify_difference(&numbers(base), &numbers(own), &design)
    }

    /// Returns the CoV to assume in a step, by the workload or by its device reads.
    ///
    /// At least what the seconds of its runs imply: on a busy host that is more.
    pub(crate) fn assumed_cov(&self, samples: &VariantSamples<'_>) -> f64 {
        let reads = || {
            let samples = samples.of_variant.values();
            let all =
                samples.flat_map(|sample| numbers(sample.values(metric::DEVICE_READS_PER_OP)));
            median(&all.collect::<Vec<_>>()).is_some_and(|reads| reads >= IO_BOUND_READS_PER_OP)
        };
        let is_io_bound = match self.experiment.workload.as_deref() {
            Some("iobuf" | "iodir") => true,
            Some("byrx" | "byos") => false,
            Some(_) | None => reads(),
        };
        let assumed = if is_io_bound { ASSUMED_COV_IO_BOUND } else { ASSUMED_COV };
        let of_runs = samples.of_variant.values().flat_map(|sample| &sample.within);
        let within = median(&of_runs.copied().collect::<Vec<_>>());
        within.map_or(assumed, |within| assumed.max(cov_of(within)))
    }
}

/// Returns the runs of each load, if runs share loads and both sides have several.
///
/// With one load, runs are all there is: a difference is then one of these loads.
fn loads_drawn(
    base: &[(Origin<'_>, f64)],
    own: &[(Origin<'_>, f64)],
) -> Option<[Vec<Vec<f64>>; 2]> {
    let is_shared = share_loads(base) || share_loads(own);
    let loads = [base, own].map(by_load);
    (is_shared && loads.iter().all(|loads| loads.len() > 1)).then_some(loads)
}

/// Returns whether both samples have the same blocks, one value each, and enough of them.
fn is_block_by_block(one: &[(Origin<'_>, f64)], other: &[(Origin<'_>, f64)]) -> bool {
    one.len() >= PAIRED_FROM as usize && same_blocks(one, other)
}

/// Returns the key distribution of a step; empty where it has none.
fn distribution(experiment: &Experiment, index: u32) -> String {
    let step = experiment.steps.get(index as usize);
    step.map_or_else(String::new, |step| step.distribution.clone())
}

fn check(runs: &[RunRecord], experiment: &Experiment, base: &str) -> Result<(), AnalysisError> {
    let first = runs.first().ok_or(AnalysisError::NoRuns)?;
    if experiment.variant(base).is_none() {
        let known = experiment.variants.iter().map(|variant| variant.name.clone()).collect();
        return Err(AnalysisError::UnknownBase(base.to_owned(), known));
    }
    for run in runs {
        if run.schema != first.schema {
            return Err(AnalysisError::Schema(run.id.clone(), run.schema, first.schema));
        }
        if experiment.variant(&run.cell.variant).is_none() {
            let variant = run.cell.variant.clone();
            return Err(AnalysisError::UnknownVariant(run.id.clone(), variant));
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
            planned: if experiment.is_left_out(&variant.name) { 0 } else { planned },
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
        has_failed_check: run.has_failed_check(),
    })
}

fn invalid(run: &RunRecord) -> Option<InvalidRun> {
    run.invalid.as_ref().map(|reason| InvalidRun {
        run: run.id.clone(),
        variant: run.cell.variant.clone(),
        reason: reason.clone(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::{Load, OpKind, OpenLoad, Pace, Rate};
    use proptest::prelude::*;
    use stats::{Method, Verdict};

    use super::*;
    use crate::testing::{application, experiment, run, step, summary};

    const NONE: NoiseHistory = NoiseHistory { experiments: Vec::new() };
    const METRIC: &str = metric::THROUGHPUT_OPS_PER_S.name;

    fn three(variant: &str, ops: [u64; 3]) -> Vec<RunRecord> {
        (1..).zip(ops).map(|(repetition, ops)| run(variant, repetition, ops)).collect()
    }

    #[test]
    fn ratios_have_intervals_and_verdicts() {
        let mut runs = three("base", [1_000, 1_040, 980]);
        runs.extend(three("slow", [900, 890, 940]));
        runs.extend(three("same", [1_010, 1_030, 970]));
        runs.extend(three("fast", [3_500, 3_600, 3_400]));
        let spec = experiment(&["base", "slow", "same", "fast"], 3);
        let comparison = compare(&runs, &spec, "base", &NONE).unwrap();
        let cells = &comparison.steps[0].cells;
        let versus = |index: usize| cells[index].metrics[METRIC].versus_base;
        assert_eq!(versus(0), None);
        let verdicts: Vec<_> = (1..4).map(|index| versus(index).unwrap().verdict).collect();
        assert_eq!(verdicts, [Verdict::Below, Verdict::Inconclusive, Verdict::Above]);
        assert_eq!(comparison.runs_per_cell(), Some((3, 3)));
    }

    #[test]
    fn nothing_of_a_run_that_failed_a_check_is_counted() {
        let mut runs = three("base", [1_000, 1_000, 1_000]);
        runs[1].end = RunEnd::FailedCheck { step: "overwrite".into(), reason: "lost".into() };
        let comparison = compare(&runs, &experiment(&["base"], 3), "base", &NONE).unwrap();
        assert!(comparison.steps.iter().all(|step| step.cells[0].runs == 2), "{comparison:?}");
        assert!(comparison.has_failed_check() && comparison.incomplete.len() == 1);
        assert_eq!(comparison.runs_per_cell(), Some((2, 2)));
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
    fn one_run_each_is_inconclusive() {
        let runs = [run("base", 1, 1_000), run("fast", 1, 2_000)];
        let comparison = compare(&runs, &experiment(&["base", "fast"], 1), "base", &NONE).unwrap();
        let versus = comparison.steps[0].cells[1].metrics[METRIC].versus_base.unwrap();
        assert_eq!((versus.interval, versus.verdict), (None, Verdict::Inconclusive));
    }

    #[test]
    fn assumed_noise_is_at_least_that_of_the_seconds() {
        let with = |long_run_variance: f64| {
            let mut runs = [run("base", 1, 1_000), run("fast", 1, 2_000)];
            for one in &mut runs {
                one.steps[0].time_profile =
                    Some(crate::testing::time_profile(60, long_run_variance));
            }
            let spec = experiment(&["base", "fast"], 1);
            let comparison = compare(&runs, &spec, "base", &NONE).unwrap();
            comparison.steps[0].cells[1].metrics[METRIC].versus_base.unwrap().run_cov
        };
        assert!((with(0.001) - ASSUMED_COV).abs() < 1e-12);
        // A long-run variance of 0.6 over 60 s: 10 % from run to run.
        assert!((with(0.6) - 0.1).abs() < 0.001, "{}", with(0.6));
    }

    #[test]
    fn a_base_of_zero_gives_no_ratio() {
        let runs = [run("base", 1, 0), run("fast", 1, 2_000)];
        let comparison = compare(&runs, &experiment(&["base", "fast"], 1), "base", &NONE).unwrap();
        assert_eq!(comparison.steps[0].cells[1].metrics[METRIC].versus_base, None);
    }

    #[test]
    fn variant_without_runs_has_an_empty_cell() {
        let runs = three("base", [1, 2, 3]);
        let comparison = compare(&runs, &experiment(&["base", "late"], 3), "base", &NONE).unwrap();
        assert_eq!(comparison.steps[0].cells[1].runs, 0);
        assert!(comparison.steps[0].cells[1].metrics.is_empty());
        assert_eq!(comparison.variants[1].recorded, 0);
    }

    #[test]
    fn levels_of_clients_are_compared_apart() {
        let mut runs = three("base", [1, 2, 3]);
        runs[2].cell.clients = 4;
        let comparison = compare(&runs, &experiment(&["base"], 3), "base", &NONE).unwrap();
        assert_eq!(comparison.levels(), BTreeSet::from([1, 4]));
        let clients = comparison.steps.iter().map(|step| step.clients.to_string());
        let of_step = ["2 clients (in runs of 1)", "2 clients (in runs of 4)"];
        assert_eq!(clients.collect::<Vec<_>>(), of_step, "the step has its own number");
        assert_eq!(comparison.steps[0].cells[0].metrics[METRIC].spread.n, 2);
    }

    #[test]
    fn invalid_run_is_listed_and_excluded() {
        let mut runs = three("base", [1_000, 1_000, 90_000]);
        runs.extend(three("other", [2_000, 2_000, 2_000]));
        runs[2].invalid = Some("20 of 60 intervals are invalid".to_owned());
        runs[2].end = RunEnd::Interrupted { step: "overwrite".to_owned() };
        let comparison = compare(&runs, &experiment(&["base", "other"], 3), "base", &NONE).unwrap();
        let base = &comparison.steps[0].cells[0];
        assert_eq!((base.runs, base.metrics[METRIC].spread.max), (2, 500.0));
        assert_eq!(comparison.runs[0].cells[0].runs, 2);
        let [only] = &comparison.invalid[..] else { panic!("one run is invalid") };
        assert_eq!((only.run.as_str(), only.variant.as_str()), ("sample/base.c1.r3", "base"));
        assert_eq!(only.reason, "20 of 60 intervals are invalid");
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
        assert!(step.is_given(METRIC) && !step.is_given(metric::GOODPUT_OPS_PER_S.name));
        assert_eq!(other[METRIC].versus_base, None);
        assert!(other[metric::GOODPUT_OPS_PER_S.name].versus_base.is_some());
        assert!(other[metric::RESPONSE_NS_P50.name].versus_base.is_some());
        let closed = three("base", [1, 2, 3]);
        let comparison = compare(&closed, &experiment(&["base"], 3), "base", &NONE).unwrap();
        assert!(!comparison.steps[0].is_given(METRIC));
    }

    #[test]
    fn errors_name_the_thing_and_the_remedy() {
        let spec = experiment(&["a", "b"], 1);
        assert_eq!(compare(&[], &spec, "a", &NONE), Err(AnalysisError::NoRuns));
        let mut runs = [run("a", 1, 1), run("b", 1, 1)];
        let message = compare(&runs, &spec, "c", &NONE).unwrap_err().to_string();
        assert_eq!(message, "no variant is named `c`; the variants are a, b");
        runs[1].schema += 1;
        let message = compare(&runs, &spec, "a", &NONE).unwrap_err().to_string();
        assert!(
            message.starts_with("run sample/b.c1.r1 has schema 2 and the other runs have schema 1"),
            "{message}"
        );
        let foreign = [run("z", 1, 1)];
        let message = compare(&foreign, &spec, "a", &NONE).unwrap_err().to_string();
        assert!(message.contains("variant `z`"), "{message}");
    }

    /// Runs of a variant in five blocks, each faster than the one before.
    fn drifting(variant: &str, percent: u64) -> Vec<RunRecord> {
        let blocks = [1_150_000, 1_305_000, 1_447_000, 1_604_000, 1_745_000];
        (1..).zip(blocks).map(|(block, ops)| run(variant, block, ops * percent / 100)).collect()
    }

    #[test]
    fn whole_blocks_are_compared_as_pairs_and_broken_ones_are_not() {
        let spec = experiment(&["base", "fast"], 5);
        let method = |runs: &[RunRecord], spec: &Experiment| {
            let comparison = compare(runs, spec, "base", &NONE).unwrap();
            let effect = comparison.steps[0].cells[1].metrics[METRIC].versus_base.unwrap();
            (effect.method == Method::Paired, effect.verdict)
        };
        let mut runs = drifting("base", 100);
        let mut fast = drifting("fast", 105);
        for run in &mut fast {
            run.steps[0].duration_ns.0 += 2_000_000 * u64::from(run.cell.repetition);
        }
        runs.extend(fast);
        assert_eq!(method(&runs, &spec), (true, Verdict::Above));
        // Too few were planned: complete blocks alone are no paired design.
        assert!(!method(&runs, &experiment(&["base", "fast"], 4)).0);
        // One run is missing.
        assert!(!method(&runs[..9], &spec).0);
        // Blocks of another experiment do not pair.
        runs[9].id = "other/fast.c1.r5".to_owned();
        assert_eq!(method(&runs, &spec), (false, Verdict::Inconclusive));
    }

    /// Runs of two or three variants, in any order.
    fn shuffled() -> impl Strategy<Value = (Vec<RunRecord>, Vec<RunRecord>)> {
        let ops = proptest::collection::vec(900..1_100_u64, 2..=18);
        ops.prop_flat_map(|ops| {
            let cell = |(index, ops): (u32, u64)| {
                let variant = match index % 3 {
                    0 => "a",
                    1 => "b",
                    _ => "c",
                };
                let mut run = run(variant, 1 + index / 3, ops * 1_000);
                run.started_at = format!("2026-11-20T20:{:02}:00Z", ops % 60);
                run
            };
            let runs: Vec<RunRecord> = (0..).zip(ops).map(cell).collect();
            (Just(runs.clone()), Just(runs).prop_shuffle())
        })
    }

    fn quiet() -> ProptestConfig {
        ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() }
    }

    /// Returns the effect in a family of one: the families of two bases differ.
    fn alone(mut effect: Effect) -> Effect {
        effect.adjust(effect.p.unwrap_or(1.0), 0.02);
        effect
    }

    const fn mirrored(verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Above => Verdict::Below,
            Verdict::Below => Verdict::Above,
            Verdict::SmallButReal | Verdict::Equivalent | Verdict::Inconclusive => verdict,
        }
    }

    proptest! {
        #![proptest_config(quiet())]

        #[test]
        fn the_order_of_the_runs_changes_nothing((runs, other) in shuffled()) {
            let spec = experiment(&["a", "b", "c"], 6);
            let of = |runs: &[RunRecord]| compare(runs, &spec, "a", &NONE).unwrap();
            prop_assert_eq!(of(&runs), of(&other));
        }

        #[test]
        fn the_other_base_gives_the_inverse_and_the_mirrored_verdict((runs, _) in shuffled()) {
            let spec = experiment(&["a", "b", "c"], 6);
            let effect = |base: &str, index: usize| {
                let comparison = compare(&runs, &spec, base, &NONE).unwrap();
                alone(comparison.steps[0].cells[index].metrics[METRIC].versus_base.unwrap())
            };
            let (there, back) = (effect("a", 1), effect("b", 0));
            prop_assert!((there.ratio * back.ratio - 1.0).abs() < 1e-12);
            prop_assert_eq!((mirrored(there.verdict), there.why), (back.verdict, back.why));
            prop_assert_eq!(there.interval.is_some(), back.interval.is_some());
            if let (Some(there), Some(back)) = (there.interval, back.interval) {
                prop_assert!((there.low * back.high - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn queries_next_to_slow_writers_have_no_ratio() {
        let mut spec = experiment(&["base", "late"], 3);
        spec.application = Some(application("readrandom", 100.0));
        let with = |late: u64| {
            let mut runs = three("base", [1_000, 1_040, 980]);
            runs.extend(three("late", [1_500, 1_560, 1_470]));
            for run in &mut runs {
                // Two clients for two seconds: the target is 400 rows.
                let rows = if run.cell.variant == "late" { late } else { 400 };
                run.steps[0].writers = [(OpKind::Insert, summary(4, rows))].into();
            }
            let comparison = compare(&runs, &spec, "base", &NONE).unwrap();
            let cell = &comparison.steps[0].cells[1];
            let versus = |name: &str| cell.metrics[name].versus_base.is_some();
            (cell.has_missed_rate(), versus(METRIC), versus(metric::WRITER_ROWS_PER_S.name))
        };
        assert_eq!(with(380), (false, true, true));
        assert_eq!(with(379), (true, false, true));
    }
}
