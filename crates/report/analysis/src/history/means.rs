//! Means of an experiment's runs: what histories need of its records.

use std::collections::BTreeMap;

use model::{Experiment, Manifest, RunRecord, StepRecord, Variant, metric};
use serde::{Deserialize, Serialize};
use stats::mean_of_runs;

use crate::metrics::{step_metrics, with_memory, with_writers};

/// Means of a step's metrics, over the valid runs of a variant at one level of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepMeans {
    pub(super) variant: String,
    pub(super) level: u32,
    pub(super) index: u32,
    pub(super) step: String,
    pub(super) clients: u32,
    /// Bits of each mean, by metric: readers of decimals may change the last digit.
    bits: BTreeMap<String, u64>,
}

impl StepMeans {
    /// Returns the mean of a metric; `None` if no valid run has the metric.
    pub(super) fn mean(&self, metric: &str) -> Option<f64> {
        self.bits.get(metric).copied().map(f64::from_bits)
    }

    /// Returns the metrics that have a mean.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.bits.keys().map(String::as_str)
    }
}

/// The values of one step of one counted run.
#[derive(Debug)]
pub struct StepValues<'a, V> {
    /// Name of the variant.
    pub variant: &'a str,
    /// Level of the clients factor.
    pub level: u32,
    /// Position of the step in the run.
    pub index: u32,
    /// Name of the step.
    pub step: &'a str,
    /// Clients of the step.
    pub clients: u32,
    /// Values by metric.
    pub values: V,
}

/// Returns the means of an experiment, for each variant, level and step.
pub fn step_means(manifest: &Manifest, runs: &[RunRecord]) -> Vec<StepMeans> {
    let experiment = &manifest.plan.experiment;
    let counted = runs.iter().filter(|run| run.is_counted());
    means_of(counted.flat_map(|run| {
        let variant = experiment.variant(&run.cell.variant);
        run.steps.iter().filter_map(move |step| {
            Some(StepValues {
                variant: &run.cell.variant,
                level: run.cell.clients,
                index: step.index,
                step: &step.step.name,
                clients: step.step.clients,
                values: step_values(experiment, variant?, step),
            })
        })
    }))
}

/// Returns every value of a step that a history can be made of, by metric.
pub fn step_values(
    experiment: &Experiment,
    variant: &Variant,
    step: &StepRecord,
) -> BTreeMap<String, f64> {
    let derived = step_metrics(step, &experiment.data);
    let derived = with_memory(derived, &variant.settings);
    let derived = with_writers(derived, step, experiment.application.as_ref());
    // A derived metric comes before a counter, and a counter before a gauge.
    let mut all = step.gauges_max.clone();
    all.extend(step.counters.clone());
    all.extend(derived);
    all.into_iter().filter(|(name, _)| metric::find(name).is_some()).collect()
}

/// Returns the means of steps, for each variant, level and step, in this order.
pub fn means_of<'a, V, N>(steps: impl Iterator<Item = StepValues<'a, V>>) -> Vec<StepMeans>
where
    V: IntoIterator<Item = (N, f64)>,
    N: Into<String> + Ord,
{
    let mut all: BTreeMap<_, BTreeMap<N, Vec<f64>>> = BTreeMap::new();
    for StepValues { variant, level, index, step, clients, values } in steps {
        let place = all.entry((variant, level, index, step, clients)).or_default();
        for (name, value) in values {
            place.entry(name).or_default().push(value);
        }
    }
    let mut means = Vec::new();
    for ((variant, level, index, step, clients), values) in all {
        let mean =
            |(name, values): (N, Vec<f64>)| Some((name.into(), mean_of_runs(&values)?.to_bits()));
        let bits = values.into_iter().filter_map(mean).collect();
        let (variant, step) = (variant.to_owned(), step.to_owned());
        means.push(StepMeans { variant, level, index, step, clients, bits });
    }
    means
}

#[cfg(test)]
mod tests {
    use model::record::SCHEMA;
    use model::{Bytes, Nanos, Plan};

    use super::*;
    use crate::testing;

    /// Goal: means are those of the valid runs, and the cache changes no digit of them.
    #[test]
    fn means_of_valid_runs_are_the_same_after_storage() {
        let plan = Plan {
            experiment: testing::experiment(&["own"], 3),
            cells: Vec::new(),
            pilot_repetitions: None,
            estimated_ns: Nanos(0),
            estimated_disk_bytes: Bytes(0),
            findings: Vec::new(),
        };
        let manifest = Manifest {
            schema: SCHEMA,
            id: String::new(),
            created_at: String::new(),
            assay_version: String::new(),
            command_line: Vec::new(),
            plan,
            host: model::Host::default(),
            builds: BTreeMap::new(),
        };
        let mut runs: Vec<RunRecord> =
            [200, 300, 900].map(|ops| testing::run("own", 1, ops)).into();
        runs[2].invalid = Some("the client was late".to_owned());
        let [means] = &step_means(&manifest, &runs)[..] else { panic!("one step") };
        let throughput = metric::THROUGHPUT_OPS_PER_S.name;
        let expected = mean_of_runs(&[100.0, 150.0]);
        assert_eq!(means.mean(throughput), expected);
        assert!(means.metrics().any(|name| name == throughput));
        let stored = serde_json::to_string(means).expect("a text");
        let read: StepMeans = serde_json::from_str(&stored).expect("the same");
        assert_eq!((read.mean(throughput), &read), (expected, means));
        runs.truncate(0);
        assert_eq!(step_means(&manifest, &runs), []);
    }
}
