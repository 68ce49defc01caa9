//! One experiment on several hosts: how far they differ, how much each varies.

use std::collections::{BTreeMap, BTreeSet};

use model::{Bytes, Experiment, Host, HostCheck, Metric, RunRecord, StepClients, count, float};
use serde::Serialize;
use stats::Effect;

use crate::comparison::{Comparison, StepComparison};
use crate::samples::{Key, StepSamples, numbers, step_samples};

/// Largest CoV of a setup that is called good.
///
/// Source: "a max coefficient of variance that is <= .03" [Callaghan 2023-01-02].
pub const GOOD_COV: f64 = 0.03;

/// The runs of one host.
#[derive(Debug, Clone, Copy)]
pub struct HostRuns<'a> {
    /// The host's name in tables.
    pub name: &'a str,
    /// Its facts.
    pub host: &'a Host,
    /// Its runs of the experiment.
    pub runs: &'a [RunRecord],
    /// These runs, compared with the base on this host alone.
    pub comparison: &'a Comparison,
}

/// One experiment on several hosts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AcrossHosts {
    /// The hosts, in the order given.
    pub hosts: Vec<String>,
    /// Facts in which they differ.
    pub differences: Vec<HostDifference>,
    /// Variation between the runs of each host, by clients.
    pub setups: Vec<Setup>,
    /// Each variant in each step.
    pub cells: Vec<CellAcross>,
}

/// A fact that is not the same on all hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostDifference {
    /// Name of the fact, as in manifests.
    pub fact: String,
    /// Its values in the order of the hosts; `None` where unknown.
    pub values: Vec<Option<String>>,
}

/// Run-to-run variation of a host at one level of the clients factor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setup {
    /// The host.
    pub host: String,
    /// Level of the clients factor.
    pub clients: u32,
    /// Cells (variant and step) of two runs or more.
    pub cells: u32,
    /// Largest CoV of these cells, a share; `None` without such a cell.
    pub cov_max: Option<f64>,
    /// Mean CoV of these cells, a share.
    pub cov_mean: Option<f64>,
}

/// One variant's primary metric in one step, by host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellAcross {
    /// Position of the step in the run, 0-based.
    pub index: u32,
    /// The step's name.
    pub step: String,
    /// Level of the clients factor, and the step's clients.
    #[serde(flatten)]
    pub clients: StepClients,
    /// The variant.
    pub variant: String,
    /// Name of the metric.
    pub metric: &'static str,
    /// Its values in the order of the hosts; `None` where not measured.
    pub hosts: Vec<Option<OnHost>>,
    /// Largest mean of a host over the mean of all hosts.
    pub max_per_mean: Option<f64>,
    /// CoV of the hosts' means, a share.
    pub cov: Option<f64>,
}

/// The runs of a cell on one host.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OnHost {
    /// Runs counted.
    pub runs: u32,
    /// Mean of the runs.
    pub mean: f64,
    /// CoV of the runs, a share; `None` for one run.
    pub cov: Option<f64>,
    /// Effect relative to the base on the same host; `None` for the base.
    pub versus_base: Option<Effect>,
}

/// Compares the hosts of an experiment in each step's primary metric, or in `named`.
///
/// Only cells that some host measured are included. `hosts` may be in any order; they should be of
/// the same experiment, which [`crate::join()`] checks.
///
/// Source: largest and mean CoV over all benchmark steps by server and number of clients
/// [Callaghan 2023-01-02].
pub fn across_hosts(
    experiment: &Experiment,
    hosts: &[HostRuns<'_>],
    named: Option<Metric>,
) -> AcrossHosts {
    let mut cells = BTreeMap::new();
    for (at, host) in hosts.iter().enumerate() {
        let samples = step_samples(host.runs, &experiment.data, experiment.application.as_ref());
        for step in &host.comparison.steps {
            add_step(step, at, &samples, named, &mut cells);
        }
    }
    let summed_up = |cell: CellAcross| cell.summed_up(hosts.len());
    let cells: Vec<CellAcross> = cells.into_values().map(summed_up).collect();
    AcrossHosts {
        hosts: hosts.iter().map(|one| one.name.to_owned()).collect(),
        differences: host_differences(&hosts.iter().map(|one| one.host).collect::<Vec<_>>()),
        setups: setups(hosts, &cells),
        cells,
    }
}

/// Position in the run, clients and place of the variant: the order of cells.
type Order = (u32, u32, usize);

/// Adds the cells of a step of the host at `at`.
fn add_step(
    step: &StepComparison,
    at: usize,
    samples: &StepSamples<'_>,
    named: Option<Metric>,
    cells: &mut BTreeMap<Order, CellAcross>,
) {
    let Some(metric) = named.map(|metric| metric.name).or(step.primary) else { return };
    for (place, cell) in step.cells.iter().enumerate() {
        let Some(measured) = cell.metric(metric) else { continue };
        let order = (step.index, step.clients.level, place);
        let new = || CellAcross {
            index: step.index,
            step: step.name.clone(),
            clients: step.clients,
            variant: cell.variant.clone(),
            metric,
            hosts: Vec::new(),
            max_per_mean: None,
            cov: None,
        };
        let across = cells.entry(order).or_insert_with(new);
        // The primary metric may differ where a host did not measure it.
        if across.metric != metric {
            continue;
        }
        let key = Key { clients: step.clients.level, index: step.index, name: step.name.clone() };
        across.hosts.resize(at + 1, None);
        across.hosts[at] = Some(OnHost {
            runs: measured.spread.n,
            mean: measured.spread.mean,
            cov: samples
                .get(&key)
                .and_then(|samples| samples.of_variant.get(&*cell.variant))
                .and_then(|sample| cov(&numbers(sample.values(metric)))),
            versus_base: measured.versus_base,
        });
    }
}

impl CellAcross {
    /// Returns it with the figures over all of so many hosts.
    fn summed_up(mut self, hosts: usize) -> Self {
        self.hosts.resize(hosts, None);
        let means: Vec<f64> = self.hosts.iter().flatten().map(|one| one.mean).collect();
        if means.len() > 1 {
            let most = means.iter().copied().fold(f64::MIN, f64::max);
            self.max_per_mean = average(&means).filter(|mean| *mean > 0.0).map(|it| most / it);
            self.cov = cov(&means);
        }
        self
    }
}

/// Returns the coefficient of variation, a share; `None` for fewer than two values or a mean of 0.
///
/// Source: sample standard deviation over mean [Callaghan 2023-01-02].
fn cov(values: &[f64]) -> Option<f64> {
    let mean = average(values).filter(|mean| *mean > 0.0 && values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / float(values.len() - 1)).sqrt() / mean)
}

/// Returns the arithmetic mean, which the formula of the CoV needs; `None` without values.
fn average(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / float(values.len()))
}

/// Returns the variation of each host at each level of clients.
fn setups(hosts: &[HostRuns<'_>], cells: &[CellAcross]) -> Vec<Setup> {
    let mut levels: Vec<u32> = cells.iter().map(|cell| cell.clients.level).collect();
    levels.sort_unstable();
    levels.dedup();
    let setup = |at: usize, clients: u32| {
        let own = cells.iter().filter(|cell| cell.clients.level == clients);
        let covs: Vec<f64> = own.filter_map(|cell| cell.hosts[at]?.cov).collect();
        Setup {
            host: hosts[at].name.to_owned(),
            clients,
            cells: count(covs.len()),
            cov_max: covs.iter().copied().reduce(f64::max),
            cov_mean: average(&covs),
        }
    };
    (0..hosts.len()).flat_map(|at| levels.iter().map(move |level| setup(at, *level))).collect()
}

/// Returns the facts in which the hosts differ, then the checks of the doctor.
pub fn host_differences(hosts: &[&Host]) -> Vec<HostDifference> {
    let facts = |host: &&Host| match serde_json::to_value(host) {
        Ok(serde_json::Value::Object(facts)) => facts,
        _ => unreachable!("a host is an object"),
    };
    let facts: Vec<_> = hosts.iter().map(facts).collect();
    let names = facts.first().into_iter().flat_map(|first| first.keys());
    // Where the data lie is the run's; the file system and the device below are facts of their own.
    let left_out = ["fingerprint", "doctor", "data"];
    let names = names.filter(|name| !left_out.contains(&name.as_str()));
    let fact = |name: &String| {
        let text = |value: &serde_json::Value| match (value, value.as_u64()) {
            (serde_json::Value::Null, _) => None,
            (serde_json::Value::String(text), _) => Some(text.clone()),
            (_, Some(bytes)) if name.ends_with("_bytes") => Some(Bytes(bytes).to_string()),
            (other, _) => Some(other.to_string()),
        };
        let values: Vec<_> = facts.iter().map(|one| one.get(name).and_then(text)).collect();
        let is_same = values.iter().all(|value| *value == values[0]);
        (!is_same).then(|| HostDifference { fact: name.clone(), values })
    };
    let mut found: Vec<HostDifference> = names.filter_map(fact).collect();
    let checks: BTreeSet<&str> =
        hosts.iter().flat_map(|host| &host.doctor).map(|one| one.check.as_str()).collect();
    for check in checks {
        let own = |host: &&'_ Host| host.doctor.iter().find(|one| one.check == check).cloned();
        let own: Vec<_> = hosts.iter().map(own).collect();
        // A manifest of an older Assay has no checks: that is no difference of the hosts.
        let known: BTreeSet<&str> = own.iter().flatten().filter_map(HostCheck::setting).collect();
        let values = own.iter().map(|one| one.as_ref()?.value.clone()).collect();
        if known.len() > 1 && found.iter().all(|one| one.fact != check) {
            found.push(HostDifference { fact: check.to_owned(), values });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use model::{CheckState, CpuCount};

    use super::*;
    use crate::testing::{experiment, run};
    use crate::{NoiseHistory, compare};

    /// Two hosts: 100, 102 and 104 thousand operations a run, and half as many without variation.
    #[test]
    fn hosts_are_compared_by_means_and_each_by_its_own_variation() {
        let experiment = experiment(&["base", "other"], 3);
        let of_host = |each: [u64; 3]| -> Vec<RunRecord> {
            let of_variant = |variant| {
                let runs = each.iter().zip(1..);
                runs.map(move |(ops, repetition)| run(variant, repetition, *ops))
            };
            ["base", "other"].into_iter().flat_map(of_variant).collect()
        };
        let runs = [of_host([100_000, 102_000, 104_000]), of_host([51_000; 3])];
        let none = NoiseHistory::default();
        let comparisons =
            runs.each_ref().map(|own| compare(own, &experiment, "base", &none).unwrap());
        let large = Host { cpus: CpuCount::of(2), memory_bytes: Bytes::GIB, ..Host::default() };
        let (cpus, governor) = (CpuCount::of(1), Some("powersave".into()));
        let data = Some(Box::default());
        let small = Host { cpus, governor, data, ..large.clone() };
        let of = |at: usize, name, host| HostRuns {
            name,
            host,
            runs: &runs[at],
            comparison: &comparisons[at],
        };
        let across = across_hosts(&experiment, &[of(0, "a", &large), of(1, "b", &small)], None);
        assert_eq!(across.hosts, ["a", "b"]);
        let facts: Vec<_> = across.differences.iter().map(|one| one.fact.as_str()).collect();
        assert_eq!(facts, ["cpus", "governor"]);
        assert_eq!(across.differences[1].values, [None, Some("powersave".to_owned())]);
        let [base, other] = &across.cells[..] else { panic!("{:?}", across.cells) };
        assert_eq!((base.variant.as_str(), other.variant.as_str()), ("base", "other"));
        let [Some(first), Some(second)] = base.hosts[..] else { panic!("{base:?}") };
        // 50, 51 and 52 thousand a second: a standard deviation of 1,000; the other host has none.
        let geometric = (50_000.0_f64 * 51_000.0 * 52_000.0).cbrt();
        assert_eq!((first.runs, second.mean), (3, 25_500.0));
        assert!((first.mean - geometric).abs() < 1e-6 && second.cov == Some(0.0));
        assert!((first.cov.unwrap() - 1.0 / 51.0).abs() < 1e-12);
        let expected = 2.0 * geometric / (geometric + 25_500.0);
        assert!((base.max_per_mean.unwrap() - expected).abs() < 1e-12);
        assert!(first.versus_base.is_none() && other.hosts[0].unwrap().versus_base.is_some());
        let [of_a, of_b] = &across.setups[..] else { panic!("{:?}", across.setups) };
        assert_eq!((of_a.clients, of_a.cells, of_b.cov_max), (1, 2, Some(0.0)));
        assert_eq!(of_a.cov_max, of_a.cov_mean);
    }

    #[test]
    fn checks_of_the_doctor_differ_where_both_are_known() {
        let host = |value: Option<&str>| Host {
            doctor: vec![HostCheck {
                check: "scheduler".to_owned(),
                state: CheckState::Fine,
                value: value.map(str::to_owned),
            }],
            ..Host::default()
        };
        let (none, mq, bfq) = (host(None), host(Some("mq-deadline")), host(Some("bfq")));
        assert_eq!(host_differences(&[&mq, &none, &Host::default()]), []);
        let values = [Some("mq-deadline".to_owned()), None, Some("bfq".to_owned())].into();
        let expected = HostDifference { fact: "scheduler".to_owned(), values };
        assert_eq!(host_differences(&[&mq, &none, &bfq]), [expected]);
    }

    #[test]
    fn one_run_has_no_variation() {
        assert_eq!(cov(&[5.0]), None);
        assert_eq!(cov(&[0.0, 0.0]), None);
        // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, sample standard deviation sqrt(32/7).
        let found = cov(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((found - (32.0_f64 / 7.0).sqrt() / 5.0).abs() < 1e-12);
    }
}
