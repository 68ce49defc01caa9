//! Experiments of several hosts, with the host as a factor.

use analysis::{AcrossHosts, HostRuns, across_hosts};
use archive::Results;
use miette::{Result, miette};
use model::{Host, Metric, RunRecord};
use render::{HostExperiment, Meta};

use super::analyzed::{Analyzed, analyze};
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
    /// Measured window of steps.
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
    let analyzed =
        hosts.iter().map(|one| analyze(&experiment, &[&one.host], &one.runs, base, results));
    let analyzed = analyzed.collect::<Result<Vec<_>>>()?;
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

/// Returns the runs of each host, in the order in which the hosts are first named.
fn by_host(named: Vec<Selected>) -> Result<Vec<OnHost>> {
    let mut hosts: Vec<OnHost> = Vec::new();
    for one in named {
        let Selected { manifest, mut runs, .. } = one;
        match hosts.iter_mut().find(|known| known.host == manifest.host) {
            Some(known) => {
                runs.retain(|run| known.runs.iter().all(|before| before.id != run.id));
                known.runs.append(&mut runs);
            }
            None => hosts.push(OnHost {
                name: format!("h{}", hosts.len() + 1),
                meta: Meta::of(&manifest),
                host: manifest.host,
                runs,
            }),
        }
    }
    if hosts.len() < 2 {
        return Err(miette!(
            help = "name experiments of two hosts or more; `assay compare` without `--across` \
                    compares variants",
            "all of these runs come from one host: no recorded fact differs"
        ));
    }
    Ok(hosts)
}
