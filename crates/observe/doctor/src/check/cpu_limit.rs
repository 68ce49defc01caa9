//! CPU caps of the control group.

use model::record::Severity;
use model::units::many;

use super::memory_limit::groups;
use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "cpu_limit",
    name: "CPU cap",
    severity: Severity::Warning,
    why: "The kernel throttles a group that reaches its CPU cap. The figures of a throttled run \
          measure the CPU cap and not the engine.",
    source: "[Linux cgroup-v2]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let quota = |dir: &String| {
        let cpus = sampler::quota_cpus(|file| source.read(format!("{dir}/{file}")))?;
        Some((cpus, dir.clone()))
    };
    let groups = match groups(source, "cpu") {
        Ok(groups) => groups,
        Err(unknown) => return unknown,
    };
    match groups.iter().filter_map(quota).min() {
        None => Outcome::fine("none"),
        Some((cpus, dir)) => {
            let cpus = many(cpus, "CPU");
            let evidence = format!("the quota of {dir} leaves this process {cpus}");
            Outcome::finding(cpus, evidence)
                .fix("# run outside of the container, or remove its CPU cap")
        }
    }
}
