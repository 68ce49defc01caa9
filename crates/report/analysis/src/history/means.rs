//! Means of an experiment's runs: what histories need of its records.

use std::collections::BTreeMap;

use model::{Host, Manifest, RunRecord, metric};
use serde::{Deserialize, Serialize};
use stats::mean_of_runs;

use crate::machines::factor::machines_of;
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
    /// In the first means of a fleet's experiment, the host of its first machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) host: Option<Box<Host>>,
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

/// Returns the means of an experiment, for each variant, level and step.
pub fn step_means(manifest: &Manifest, runs: &[RunRecord]) -> Vec<StepMeans> {
    let experiment = &manifest.plan.experiment;
    let mut values: BTreeMap<_, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.is_counted()) {
        let Some(variant) = experiment.variant(&run.cell.variant) else { continue };
        for step in &run.steps {
            let place = (&run.cell.variant, run.cell.clients, step.index, &step.step.name);
            let place = values.entry((place, step.step.clients)).or_default();
            let derived = step_metrics(step, &experiment.data);
            let derived = with_memory(derived, &variant.settings);
            let derived = with_writers(derived, step, experiment.application.as_ref());
            // A derived metric comes before a counter, and a counter before a gauge.
            let mut all = step.gauges_max.clone();
            all.extend(step.counters.clone());
            all.extend(derived);
            for (name, value) in all.into_iter().filter(|(name, _)| metric::find(name).is_some()) {
                place.entry(name).or_default().push(value);
            }
        }
    }
    let mut means = Vec::new();
    for (((variant, level, index, step), clients), values) in values {
        let mean =
            |(name, values): (String, Vec<f64>)| Some((name, mean_of_runs(&values)?.to_bits()));
        let bits = values.into_iter().filter_map(mean).collect();
        let (variant, step) = (variant.clone(), step.clone());
        means.push(StepMeans { variant, level, index, step, clients, bits, host: None });
    }
    if let (Some(first), [machine, ..]) = (means.first_mut(), &machines_of(runs)[..]) {
        first.host = Some(Box::new(machine.host.clone()));
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
            host: Host::default(),
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
