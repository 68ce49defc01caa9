//! Samples of a comparison: metric values by step, variant and run.

use std::collections::BTreeMap;

use model::sql::Application;
use model::{DataShape, Load, Readings, RunRecord};
use stats::CellVariance;

use crate::metrics::{
    run_metrics, step_metrics, with_cache_amplification, with_memory, with_writers,
};

/// A step at one level of the clients factor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) clients: u32,
    pub(crate) index: u32,
    pub(crate) name: String,
}

/// A block: experiment and repetition. Its runs share a stretch of time and a seed.
pub(crate) type Block<'a> = (&'a str, u32);

/// The runs of every variant in one step, or as a whole.
#[derive(Debug, Default)]
pub(crate) struct VariantSamples<'a> {
    pub(crate) of_variant: BTreeMap<&'a str, Sample<'a>>,
    /// Whether operations arrived at rates the experiment gives.
    pub(crate) is_rate_given: bool,
}

impl VariantSamples<'_> {
    /// Returns the pooled variance of each metric over the variants: one cell.
    ///
    /// Variants of a step share much of its noise; as cells of their own they would inflate the
    /// number of steps.
    ///
    /// Source: our choice of cell for the moderated variance [Smyth 2004], which needs exchangeable
    /// ones.
    pub(crate) fn variances(&self) -> BTreeMap<&str, CellVariance> {
        let mut cells = BTreeMap::new();
        for (metric, values) in self.of_variant.values().flat_map(|sample| &sample.metrics) {
            if let Some(own) = variance(values) {
                let add = |cell: &mut CellVariance| *cell = cell.pooled(own);
                cells.entry(metric.as_str()).and_modify(add).or_insert(own);
            }
        }
        cells
    }
}

/// The runs of one variant.
#[derive(Debug, Default)]
pub(crate) struct Sample<'a> {
    /// Runs that were counted.
    pub(crate) runs: u32,
    /// Length of each run's measured span, in seconds; none for whole runs.
    pub(crate) seconds: Vec<f64>,
    /// Variance of the logarithm of each run's mean rate by its own seconds; a lower bound.
    pub(crate) within: Vec<f64>,
    /// Each metric's values, in the order of their blocks.
    pub(crate) metrics: BTreeMap<String, Vec<(Block<'a>, f64)>>,
}

impl<'a> Sample<'a> {
    fn add(&mut self, block: Block<'a>, metrics: Readings) {
        self.runs += 1;
        for (metric, value) in metrics {
            self.metrics.entry(metric).or_default().push((block, value));
        }
    }

    /// Returns a metric's values with their blocks; empty when unknown.
    pub(crate) fn values(&self, metric: impl AsRef<str>) -> &[(Block<'a>, f64)] {
        self.metrics.get(metric.as_ref()).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The samples of steps.
pub(crate) type StepSamples<'a> = BTreeMap<Key, VariantSamples<'a>>;

/// Collects the samples of the steps of valid `runs`, in any order.
///
/// Of an incomplete run the finished steps count.
pub(crate) fn step_samples<'a>(
    runs: &'a [RunRecord],
    data: &DataShape,
    application: Option<&Application>,
) -> StepSamples<'a> {
    let mut all = StepSamples::new();
    for run in in_blocks(runs) {
        for step in &run.steps {
            let name = step.step.name.clone();
            let key = Key { clients: run.cell.clients, index: step.index, name };
            let samples = all.entry(key).or_default();
            samples.is_rate_given |= matches!(step.step.load, Load::Open(_));
            let sample = samples.of_variant.entry(&run.cell.variant).or_default();
            sample.seconds.push(step.duration_ns.as_secs_f64());
            let profile = step.time_profile.as_ref().filter(|profile| profile.seconds > 1);
            let within = profile.map(|one| one.long_run_variance / f64::from(one.seconds));
            sample.within.extend(within);
            let metrics = with_memory(step_metrics(step, data), &run.variant.settings);
            let own = std::slice::from_ref(step);
            let metrics = with_cache_amplification(metrics, own, data, application);
            sample.add(block(run), with_writers(metrics, step, application));
        }
    }
    all
}

/// Collects the samples of valid and complete `runs` as a whole, by level of clients.
pub(crate) fn run_samples<'a>(
    runs: &'a [RunRecord],
    data: &DataShape,
    application: Option<&Application>,
) -> BTreeMap<u32, VariantSamples<'a>> {
    let mut all: BTreeMap<u32, VariantSamples<'a>> = BTreeMap::new();
    for run in in_blocks(runs).into_iter().filter(|run| run.end.is_complete()) {
        let samples = all.entry(run.cell.clients).or_default();
        let metrics = with_memory(run_metrics(run, data), &run.variant.settings);
        let metrics = with_cache_amplification(metrics, &run.steps, data, application);
        samples.of_variant.entry(&run.cell.variant).or_default().add(block(run), metrics);
    }
    all
}

/// Returns the valid runs in the order of their blocks.
///
/// Sums of the same values in another order may differ in the last digit.
fn in_blocks(runs: &[RunRecord]) -> Vec<&RunRecord> {
    let mut runs: Vec<&RunRecord> = runs.iter().filter(|run| run.invalid.is_none()).collect();
    runs.sort_by_key(|run| (block(run), &run.id));
    runs
}

/// Returns the block a run belongs to.
fn block(run: &RunRecord) -> Block<'_> {
    let experiment = run.id.rsplit_once('/').map_or("", |(experiment, _)| experiment);
    (experiment, run.cell.repetition)
}

/// Returns the values without their blocks.
pub(crate) fn numbers(values: &[(Block<'_>, f64)]) -> Vec<f64> {
    values.iter().map(|(_, value)| *value).collect()
}

/// Returns the variance of the values' logarithms; `None` below two positive values, and for
/// constant ones.
///
/// Source: [`CellVariance::of`].
pub(crate) fn variance(values: &[(Block<'_>, f64)]) -> Option<CellVariance> {
    CellVariance::of(&numbers(values)).filter(CellVariance::has_spread)
}
