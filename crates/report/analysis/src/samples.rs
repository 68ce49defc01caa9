//! Samples of a comparison: metric values by step, variant and run.

use std::collections::{BTreeMap, BTreeSet};

use model::sql::Application;
use model::{DataShape, Load, Readings, RunRecord, StepRecord, count, metric};
use stats::{CellVariance, median};

use crate::metrics::{
    RATE_SUSTAINED, run_metrics, step_metrics, with_cache_amplification, with_memory, with_writers,
};
use crate::part::{PartName, StepPart, event_names, step_parts};

/// A step at one level of the clients factor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) clients: u32,
    pub(crate) index: u32,
    pub(crate) name: String,
}

impl Key {
    fn of(run: &RunRecord, step: &StepRecord) -> Self {
        Self { clients: run.cell.clients, index: step.index, name: step.step.name.clone() }
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// Experiment and repetition, whose runs share a stretch of time and a seed.
    pub(crate) block: (&'a str, u32),
    /// Machine of a fleet that did the run; `None` on the host of the manifest.
    pub(crate) machine: Option<&'a str>,
    /// The load that the run shares with others, if any.
    load: Option<&'a str>,
}

/// The runs of every variant in one step, or as a whole.
#[derive(Debug, Default)]
pub(crate) struct VariantSamples<'a> {
    pub(crate) of_variant: BTreeMap<&'a str, Sample<'a>>,
    /// Whether operations arrived at rates the experiment gives.
    pub(crate) is_rate_given: bool,
    /// What is reported apart of the step, in the order of the records.
    pub(crate) parts: Vec<PartSamples<'a>>,
}

/// One part of a step.
#[derive(Debug)]
pub(crate) struct PartSamples<'a> {
    pub(crate) name: PartName,
    pub(crate) samples: VariantSamples<'a>,
    /// Access paths of a statement, by variant.
    pub(crate) plans: BTreeMap<String, BTreeSet<String>>,
}

impl<'a> VariantSamples<'a> {
    /// Adds a part of a step of a run.
    fn add_part(&mut self, run: &'a RunRecord, part: StepPart<'_>) {
        let known = self.parts.iter().position(|one| one.name == part.name);
        let at = known.unwrap_or_else(|| {
            let samples =
                VariantSamples { is_rate_given: self.is_rate_given, ..VariantSamples::default() };
            let plans = BTreeMap::new();
            self.parts.push(PartSamples { name: part.name, samples, plans });
            self.parts.len() - 1
        });
        let PartSamples { samples, plans, .. } = &mut self.parts[at];
        let variant = run.cell.variant.as_str();
        samples.of_variant.entry(variant).or_default().add(run, part.metrics);
        if let Some(plan) = part.plan {
            plans.entry(variant.to_owned()).or_default().insert(plan.to_owned());
        }
    }

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
    /// Where each run comes from.
    origins: Vec<(Origin<'a>, f64)>,
    /// Each metric's values, in the order of their blocks.
    pub(crate) metrics: BTreeMap<String, Vec<(Origin<'a>, f64)>>,
}

impl<'a> Sample<'a> {
    fn add(&mut self, run: &'a RunRecord, metrics: Readings) {
        self.runs += 1;
        let load = run.load.as_ref().map(|load| load.snapshot.as_str());
        let machine = run.machine.as_ref().map(|machine| machine.name.as_str());
        let origin = Origin { block: block(run), machine, load };
        self.origins.push((origin, 0.0));
        for (metric, value) in metrics {
            self.metrics.entry(metric).or_default().push((origin, value));
        }
    }

    /// Returns the loads that its runs share; `None` when each has its own.
    pub(crate) fn loads(&self) -> Option<u32> {
        share_loads(&self.origins).then(|| count(by_load(&self.origins).len()))
    }

    /// Returns a metric's values with their blocks; empty when unknown.
    pub(crate) fn values(&self, metric: impl AsRef<str>) -> &[(Origin<'a>, f64)] {
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
    let runs = in_blocks(runs);
    let mut events: BTreeMap<(Key, &str), BTreeSet<String>> = BTreeMap::new();
    for (run, step) in runs.iter().flat_map(|run| run.steps.iter().map(move |step| (run, step))) {
        let place = (Key::of(run, step), run.cell.variant.as_str());
        events.entry(place).or_default().extend(event_names(step));
    }
    for run in runs {
        for step in &run.steps {
            let place = (Key::of(run, step), run.cell.variant.as_str());
            let parts = step_parts(step, &events[&place]);
            let samples = all.entry(place.0).or_default();
            samples.is_rate_given |= matches!(step.step.load, Load::Open(_));
            parts.into_iter().for_each(|part| samples.add_part(run, part));
            let sample = samples.of_variant.entry(&run.cell.variant).or_default();
            sample.seconds.push(step.duration_ns.as_secs_f64());
            let profile = step.time_profile.as_ref().filter(|profile| profile.seconds > 1);
            let within = profile.map(|one| one.long_run_variance / f64::from(one.seconds));
            sample.within.extend(within);
            let metrics = with_memory(step_metrics(step, data), &run.variant.settings);
            let own = std::slice::from_ref(step);
            let metrics = with_cache_amplification(metrics, own, data, application);
            sample.add(run, with_writers(metrics, step, application));
        }
    }
    all
}

/// Collects the samples of valid and complete `runs` as a whole, by level of clients.
///
/// A run that restored a loaded database is no whole one: what its load wrote is in another run.
pub(crate) fn run_samples<'a>(
    runs: &'a [RunRecord],
    data: &DataShape,
    application: Option<&Application>,
) -> BTreeMap<u32, VariantSamples<'a>> {
    let mut all: BTreeMap<u32, VariantSamples<'a>> = BTreeMap::new();
    let is_whole = |run: &&RunRecord| run.load.as_ref().is_none_or(|load| load.made_by == run.id);
    let complete = in_blocks(runs).into_iter().filter(|run| run.end.is_complete());
    for run in complete.filter(is_whole) {
        let samples = all.entry(run.cell.clients).or_default();
        let metrics = with_memory(run_metrics(run, data), &run.variant.settings);
        let metrics = with_cache_amplification(metrics, &run.steps, data, application);
        samples.of_variant.entry(&run.cell.variant).or_default().add(run, metrics);
    }
    all
}

/// Returns the valid runs in the order of their blocks.
///
/// Sums of the same values in another order may differ in the last digit.
fn in_blocks(runs: &[RunRecord]) -> Vec<&RunRecord> {
    let mut runs: Vec<&RunRecord> = runs.iter().filter(|run| run.is_counted()).collect();
    runs.sort_by_key(|run| (block(run), &run.id));
    runs
}

/// Returns the block a run belongs to.
pub(crate) fn block(run: &RunRecord) -> (&str, u32) {
    let experiment = run.id.rsplit_once('/').map_or("", |(experiment, _)| experiment);
    (experiment, run.cell.repetition)
}

/// Returns the values by load; a run that shares none is one of its own.
pub(crate) fn by_load(values: &[(Origin<'_>, f64)]) -> Vec<Vec<f64>> {
    let mut loads: Vec<(Option<&str>, Vec<f64>)> = Vec::new();
    for (Origin { load, .. }, value) in values {
        let known = loads.iter_mut().find(|(one, _)| one.is_some() && one == load);
        match known {
            Some((_, runs)) => runs.push(*value),
            None => loads.push((*load, vec![*value])),
        }
    }
    loads.into_iter().map(|(_, runs)| runs).collect()
}

/// Returns what was drawn at random: the means of loads where runs share several, else the runs.
pub(crate) fn drawn(values: &[(Origin<'_>, f64)]) -> Vec<f64> {
    let loads = by_load(values);
    match loads.len() > 1 && loads.len() < values.len() {
        true => stats::loads::means(&loads).unwrap_or_default(),
        false => numbers(values),
    }
}

/// Returns whether several of the runs share a load.
pub(crate) fn share_loads(values: &[(Origin<'_>, f64)]) -> bool {
    by_load(values).len() < values.len()
}

/// Returns whether both samples have the same blocks, one value each.
pub(crate) fn same_blocks(one: &[(Origin<'_>, f64)], other: &[(Origin<'_>, f64)]) -> bool {
    let is_once = |(a, b): (&(Origin<'_>, f64), &(Origin<'_>, f64))| a.0.block != b.0.block;
    one.len() == other.len()
        && one.iter().zip(other).all(|(a, b)| a.0.block == b.0.block)
        && one.iter().zip(one.iter().skip(1)).all(is_once)
}

/// Returns the values by machine, in their order.
pub(crate) fn by_machine<'a>(values: &[(Origin<'a>, f64)]) -> BTreeMap<Option<&'a str>, Vec<f64>> {
    let mut machines: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for (Origin { machine, .. }, value) in values {
        machines.entry(*machine).or_default().push(*value);
    }
    machines
}

/// Returns the values alone.
pub(crate) fn numbers(values: &[(Origin<'_>, f64)]) -> Vec<f64> {
    values.iter().map(|(_, value)| *value).collect()
}

/// Returns the variance of the values' logarithms; `None` below two positive values, for constant
/// ones, and where runs share a load: it is not that of runs which load for themselves.
///
/// Of several machines it is the variance within machines.
///
/// Source: [`CellVariance::of`].
pub(crate) fn variance(values: &[(Origin<'_>, f64)]) -> Option<CellVariance> {
    if share_loads(values) {
        return None;
    }
    let of_machine = |values: &Vec<f64>| CellVariance::of(values);
    let within = by_machine(values).values().filter_map(of_machine).reduce(CellVariance::pooled);
    within.filter(CellVariance::has_spread)
}

/// Returns whether the background writers of most runs missed their rate.
///
/// Source: [`RATE_SUSTAINED`].
pub(crate) fn has_missed_rate(sample: &Sample<'_>) -> bool {
    median(&numbers(sample.values(metric::WRITER_RATE_SHARE)))
        .is_some_and(|share| share < RATE_SUSTAINED)
}

/// Returns whether a metric is about the background writers themselves.
pub(crate) fn is_of_writers(metric: &str) -> bool {
    metric.starts_with("writer_")
}
