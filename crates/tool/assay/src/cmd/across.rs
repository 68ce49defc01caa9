//! Experiments of several hosts, with the host as a factor.

use analysis::{AcrossHosts, HostRuns, across_hosts, machines_of};
use archive::Results;
use miette::{Result, miette};
use model::{Host, Machine, Manifest, Metric, RunRecord};
use render::{HostExperiment, Meta};

use super::analyzed::{Analyzed, MeasuredRuns, analyze};
use super::selected::{Selected, joined, select};
use super::steady::Window;

/// The factor whose levels are side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Factor {
    // The machine: experiments of several, different on purpose.
    Hosts,
}

/// What is compared, and in which metric.
pub(crate) struct Request<'a> {
    /// Experiments by name, identifier or directory.
    pub(crate) names: &'a [String],
    /// Base case; the experiment's own without one.
    pub(crate) base: Option<&'a str>,
    /// Metric of every step; the primary ones without one.
    pub(crate) metric: Option<Metric>,
    /// MeasuredRuns window of steps.
    pub(crate) window: Window,
}

/// The runs of one host.
struct OnHost {
    name: String,
    host: Host,
    meta: Meta,
    runs: Vec<RunRecord>,
}

/// Reads the experiments and compares their hosts; experiments of one host are pooled.
pub(crate) fn compare_hosts(
    results: &Results,
    request: &Request<'_>,
) -> Result<(AcrossHosts, Vec<HostExperiment>)> {
    let named = request.names.iter().map(|name| select(results, name));
    let mut named = named.collect::<Result<Vec<_>>>()?;
    let experiment = joined(&named)?;
    let mut parts: Vec<_> = named.iter_mut().map(Selected::runs_mut).collect();
    request.window.trim(&mut parts)?;
    let hosts = by_host(named)?;
    let base = request.base.unwrap_or(&experiment.base);
    let measured = |one: &'_ OnHost| {
        let cuts = Vec::new();
        let measured =
            MeasuredRuns { experiment: &experiment, host: &one.host, runs: &one.runs, cuts };
        analyze(measured, base, results)
    };
    let analyzed = hosts.iter().map(measured).collect::<Result<Vec<_>>>()?;
    let both = || hosts.iter().zip(&analyzed);
    let of_host = |(one, analyzed): (&'_ OnHost, &'_ Analyzed)| HostExperiment {
        meta: one.meta.clone(),
        label: analyzed.compared(&one.meta, &one.runs, &one.host).label(),
        has_failed_check: analyzed.comparison.has_failed_check(),
    };
    let reports = both().map(of_host).collect();
    let runs = both().map(|(one, analyzed)| HostRuns {
        name: &one.name,
        host: &one.host,
        runs: &one.runs,
        comparison: &analyzed.comparison,
    });
    Ok((across_hosts(&experiment, &runs.collect::<Vec<_>>(), request.metric), reports))
}

/// The runs of one machine of a fleet, with its name and a manifest with its host.
type Part = (Option<String>, Manifest, Vec<RunRecord>);

/// Divides the runs of a fleet of several machines; other runs stay together.
fn on_machines(manifest: Manifest, runs: Vec<RunRecord>) -> Vec<Part> {
    let machines: Vec<Machine> = machines_of(&runs).into_iter().cloned().collect();
    if machines.len() < 2 {
        return vec![(None, manifest, runs)];
    }
    let of = |Machine { name, host }: Machine| {
        let is_own = |run: &&RunRecord| run.machine.as_ref().is_some_and(|one| one.name == name);
        let own = runs.iter().filter(is_own).cloned().collect();
        (Some(name), Manifest { host, ..manifest.clone() }, own)
    };
    machines.into_iter().map(of).collect()
}

/// Returns the runs of each host, in the order in which the hosts are first named.
///
/// The machines of a fleet of several are hosts, by their names.
fn by_host(named: Vec<Selected>) -> Result<Vec<OnHost>> {
    let mut hosts: Vec<OnHost> = Vec::new();
    let parts = named.into_iter().flat_map(|one| on_machines(one.manifest, one.runs));
    for (machine, manifest, mut runs) in parts {
        let is_known = |known: &&mut OnHost| match &machine {
            Some(name) => known.name == *name,
            None => known.host == manifest.host,
        };
        match hosts.iter_mut().find(is_known) {
            Some(known) => {
                runs.retain(|run| known.runs.iter().all(|before| before.id != run.id));
                known.runs.append(&mut runs);
            }
            None => hosts.push(OnHost {
                name: machine.unwrap_or_else(|| format!("h{}", hosts.len() + 1)),
                meta: Meta::of(&manifest),
                host: manifest.host,
                runs,
            }),
        }
    }
    if hosts.len() < 2 {
        return Err(miette!(
            help = "name experiments of two hosts or more, or one of several machines (assay run \
                    --on); `assay compare` without `--across` compares variants",
            "all of these runs come from one host: no recorded fact differs"
        ));
    }
    Ok(hosts)
}
