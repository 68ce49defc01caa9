//! Run-to-run noise of each metric, with its sources.

use std::collections::BTreeMap;

use model::{DataShape, Experiment, RunRecord, count};
use serde::{Deserialize, Serialize};
use stats::{CellVariance, Prior, median, prior};

use crate::samples::{StepSamples, VariantSamples, step_samples};

/// Prior noise of one metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Noise {
    /// Expected variance of its logarithm, with its degrees of freedom.
    #[serde(flatten)]
    pub prior: Prior,
    /// Cells from the compared runs.
    pub own_cells: u32,
    /// Cells from earlier experiments on this machine.
    pub earlier_cells: u32,
    /// Number of those earlier experiments.
    pub earlier_experiments: u32,
}

/// Noise of earlier experiments on a machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseHistory {
    /// The cells of each earlier experiment.
    pub experiments: Vec<Vec<NoiseCell>>,
}

/// Pooled noise of one step at one level of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoiseCell {
    /// The step's name.
    pub step: String,
    /// Median length of its measured span, in seconds.
    pub seconds: f64,
    /// Variance of the logarithm, by metric.
    pub metrics: BTreeMap<String, CellVariance>,
}

/// Returns the noise cells of an experiment; none without repetitions.
pub fn noise_cells(runs: &[RunRecord], data: &DataShape) -> Vec<NoiseCell> {
    let mut cells = Vec::new();
    for (key, samples) in &step_samples(runs, data, None) {
        let metrics: BTreeMap<String, CellVariance> = samples
            .variances()
            .into_iter()
            .map(|(metric, variance)| (metric.to_owned(), variance))
            .collect();
        let seconds = samples.of_variant.values().flat_map(|sample| sample.seconds.iter().copied());
        let seconds = median(&seconds.collect::<Vec<_>>());
        if let Some(seconds) = seconds.filter(|_| !metrics.is_empty()) {
            cells.push(NoiseCell { step: key.name.clone(), seconds, metrics });
        }
    }
    cells
}

/// Largest ratio of step lengths for a shared noise cell.
///
/// The variance of a run is s_b^2 + S/R at a length of R: twice the length changes a coefficient of
/// variation by a factor of 1.4 at most, which is less than cells differ among themselves.
///
/// Our choice, for that reason.
const SPAN_RATIO: f64 = 2.0;

/// A metric's cells under construction.
#[derive(Default)]
struct Cells {
    all: Vec<CellVariance>,
    own: usize,
    earlier_experiments: usize,
}

/// Returns the prior noise of each metric, from cells here and in earlier experiments.
///
/// Each metric has a prior of its own: two percentiles, or operations and rows, are not
/// exchangeable cells, because their noise is the same noise twice.
///
/// Source: [Smyth 2004, section 6].
pub(crate) fn known(
    steps: &StepSamples<'_>,
    noise_history: &NoiseHistory,
) -> BTreeMap<String, Noise> {
    let mut cells: BTreeMap<&str, Cells> = BTreeMap::new();
    for (metric, own) in steps.values().flat_map(VariantSamples::variances) {
        let cells = cells.entry(metric).or_default();
        cells.all.push(own);
        cells.own += 1;
    }
    let spans = spans(steps);
    for earlier in &noise_history.experiments {
        let alike: Vec<&NoiseCell> = earlier.iter().filter(|one| is_alike(one, &spans)).collect();
        let mut before = BTreeMap::new();
        for (metric, variance) in alike.iter().flat_map(|one| &one.metrics) {
            let cells = cells.entry(metric).or_default();
            before.entry(metric).or_insert(cells.all.len());
            cells.all.push(*variance);
        }
        for metric in before.into_keys() {
            cells.entry(metric).or_default().earlier_experiments += 1;
        }
    }
    let fitted = cells.into_iter().filter_map(|(metric, cells)| {
        let prior = prior::fit(&cells.all)?;
        let noise = Noise {
            prior,
            own_cells: count(cells.own),
            earlier_cells: count(cells.all.len() - cells.own),
            earlier_experiments: count(cells.earlier_experiments),
        };
        Some((metric.to_owned(), noise))
    });
    fitted.collect()
}

/// Returns the median length of each step's measured span, in seconds, by the step's name.
fn spans<'a>(steps: &'a StepSamples<'_>) -> BTreeMap<&'a str, Vec<f64>> {
    let mut spans: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (key, samples) in steps {
        let seconds: Vec<f64> =
            samples.of_variant.values().flat_map(|sample| sample.seconds.iter().copied()).collect();
        spans.entry(&key.name).or_default().extend(median(&seconds));
    }
    spans
}

fn is_alike(cell: &NoiseCell, spans: &BTreeMap<&str, Vec<f64>>) -> bool {
    let is_near = |span: &f64| {
        let ratio = cell.seconds / span;
        (1.0 / SPAN_RATIO..=SPAN_RATIO).contains(&ratio)
    };
    spans.get(cell.step.as_str()).is_some_and(|own| own.iter().any(is_near))
}

/// Experiment, base and prior noise of a comparison.
pub(crate) struct Question<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) base: &'a str,
    pub(crate) noise: &'a BTreeMap<String, Noise>,
}

#[cfg(test)]
mod tests {
    use model::{Nanos, RunRecord, metric};
    use stats::{Method, Verdict, Why};

    use super::*;
    use crate::compare;
    use crate::comparison::Comparison;
    use crate::noise::noise_cells;
    use crate::testing::{DATA, experiment, run, step};

    const METRIC: &str = metric::THROUGHPUT_OPS_PER_S.name;

    /// Runs of both variants, each with eight steps that vary by about 1 %.
    fn repeated(experiment: &str, repetitions: u32) -> Vec<RunRecord> {
        let mut runs = Vec::new();
        for (variant, factor) in [("base", 1_000), ("fast", 1_100)] {
            for repetition in 1..=repetitions {
                let mut run = run(variant, repetition, 0);
                run.id = format!("{experiment}/{}", run.cell.id);
                run.steps.clear();
                for index in 0..8 {
                    let mut one = step(index, "readrandom");
                    let noise = u64::from((repetition * 7 + index * 3) % 5) * 5;
                    for summary in one.clients.values_mut() {
                        summary.counts.done = factor * (1_000 + noise);
                    }
                    run.steps.push(one);
                }
                runs.push(run);
            }
        }
        runs
    }

    fn compared(runs: &[RunRecord], repetitions: u32, noise_history: &NoiseHistory) -> Comparison {
        compare(runs, &experiment(&["base", "fast"], repetitions), "base", noise_history).unwrap()
    }

    fn effect(comparison: &Comparison) -> stats::Effect {
        comparison.steps[0].cells[1].metrics[METRIC].versus_base.unwrap()
    }

    #[test]
    fn cells_of_the_experiment_make_a_prior() {
        let comparison = compared(&repeated("now", 3), 3, &NoiseHistory::default());
        let noise = comparison.noise[METRIC];
        assert_eq!((noise.own_cells, noise.earlier_cells, noise.earlier_experiments), (8, 0, 0));
        assert_eq!(noise.prior.cells, 8);
        let effect = effect(&comparison);
        assert_eq!((effect.method, effect.verdict), (Method::Moderated, Verdict::Above));
        assert!(effect.df.is_some_and(|df| df > 4.0), "more than its own: {effect:?}");
        // Two variants of four steps are four cells: too few.
        let mut few = repeated("now", 3);
        few.iter_mut().for_each(|run| run.steps.truncate(4));
        assert_eq!(compared(&few, 3, &NoiseHistory::default()).noise.get(METRIC), None);
    }

    #[test]
    fn one_run_each_uses_comparable_history() {
        let earlier = noise_cells(&repeated("then", 3), &DATA);
        assert_eq!(earlier.len(), 8);
        let with = |change: fn(&mut NoiseCell)| {
            let mut cells = earlier.clone();
            cells.iter_mut().for_each(change);
            let comparison =
                compared(&repeated("now", 1), 1, &NoiseHistory { experiments: vec![cells] });
            let effect = effect(&comparison);
            (effect.method, effect.verdict, effect.why)
        };
        let nothing = (Method::None, Verdict::Inconclusive, Some(Why::OneRun));
        assert_eq!(with(|_| {}), (Method::History, Verdict::Above, None));
        assert_eq!(with(|cell| cell.seconds *= 1.9), (Method::History, Verdict::Above, None));
        assert_eq!(with(|cell| cell.seconds *= 10.0), nothing);
        assert_eq!(with(|cell| cell.seconds /= 10.0), nothing);
        assert_eq!(with(|cell| cell.step = "overwrite".to_owned()), nothing);
        let alone = compared(&repeated("now", 1), 1, &NoiseHistory::default());
        assert_eq!(effect(&alone).why, Some(Why::OneRun));
    }

    #[test]
    fn noise_sources_are_counted_by_experiment() {
        let earlier = || noise_cells(&repeated("then", 3), &DATA);
        let mut other_step = earlier();
        other_step.iter_mut().for_each(|cell| cell.step = "overwrite".to_owned());
        let noise_history = NoiseHistory { experiments: vec![earlier(), other_step, earlier()] };
        let noise = compared(&repeated("now", 3), 3, &noise_history).noise[METRIC];
        assert_eq!((noise.own_cells, noise.earlier_cells, noise.earlier_experiments), (8, 16, 2));
        assert_eq!(noise.prior.cells, 24);
    }

    #[test]
    fn constant_cell_is_excluded_from_the_prior() {
        let mut runs = repeated("now", 3);
        for run in &mut runs {
            let step = &mut run.steps[0];
            step.duration_ns = Nanos::from_secs(2);
            step.clients.values_mut().for_each(|summary| summary.counts.done = 1_000);
        }
        // Seven that vary are too few.
        assert_eq!(compared(&runs, 3, &NoiseHistory::default()).noise.get(METRIC), None);
    }
}
