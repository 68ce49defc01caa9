//! CPU caps of the control group.

use model::record::Severity;

use super::Check;
use super::memory_limit::groups;
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    name: "cpu_limit",
    subject: "CPU cap",
    severity: Severity::Warning,
    why: "A capped group is throttled: what is measured is the cap.",
    source: "[Linux cgroup-v2]",
    is_in_snapshot: true,
    run,
};

fn run(source: &Source) -> Outcome {
    let quota = |dir: &String| {
        let cpus = sampler::quota_cpus(|file| source.read(format!("{dir}/{file}")))?;
        Some((cpus, dir.clone()))
    };
    let groups = groups(source, "cpu");
    match groups.iter().filter_map(quota).min() {
        _ if groups.is_empty() => Outcome::unknown("the process is in no control group"),
        None => Outcome::fine("none"),
        Some((cpus, dir)) => {
            let evidence = format!("the quota of {dir} leaves this process {cpus} CPUs");
            Outcome::finding(format!("{cpus} CPUs"), evidence)
                .mend("# run outside of the container, or remove its CPU cap")
        }
    }
}
