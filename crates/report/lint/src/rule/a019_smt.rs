//! A019: two busy threads share a core.

use std::collections::BTreeSet;

use model::record::Severity;
use model::units::many;
use model::{StepRecord, metric};

use super::{Checks, Observation, Rule};
use crate::context::{ComparisonContext, RunContext};

pub(crate) static RULE: Rule = Rule {
    code: "A019",
    name: "shared cores",
    trigger: "Warning: SMT is on, and the worker used more CPUs over a step than the host has \
              physical cores. Blocking: SMT is on in some of the compared runs and off in other \
              runs",
    why: "Threads that share a core are slower than threads that have a core each, and the \
          slowdown depends on what the other thread does. CPU per operation then grows only \
          because the load grows.",
    remedy: "use fewer clients or background threads, or switch SMT off: echo off > \
             /sys/devices/system/cpu/smt/control",
    source: "[Callaghan 2022-10-24] (hyper-threads disabled, kernel option `nosmt`)",
    ..Rule::of(Checks { measured: &[shared], comparison: Some(comparison), ..Checks::NONE })
};

fn shared(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let host = context.host;
    let cores = host.cores.filter(|_| host.is_smt_on == Some(true))?;
    let used = analysis::rate_metrics(step).value(metric::BUSY_THREADS)?;
    (used > f64::from(cores)).then(|| {
        let (cpus, cores) = (many(host.cpus, "CPU"), many(cores, "core"));
        let evidence = format!(
            "the worker used {used:.1} CPUs, and the host's {cpus} share \
                                {cores}"
        );
        Observation::new(evidence).ranked("used", used)
    })
}

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let known: BTreeSet<bool> = context.hosts.iter().filter_map(|host| host.is_smt_on).collect();
    let evidence = "SMT was on for some runs and off for others";
    let evidence = Observation::new(evidence).severity(Severity::Blocking).ranked("differs", 0.0);
    if known.len() > 1 { vec![evidence] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use model::Host;

    use super::*;
    use crate::testing::{experiment, host, on_hosts, runs, set};

    /// A host of four CPUs.
    fn smt(is_smt_on: Option<bool>, cores: u32) -> Host {
        Host { is_smt_on, cores: Some(cores), ..host() }
    }

    #[test]
    fn more_busy_threads_than_cores_are_reported_where_cores_are_shared() {
        let with = |host: &Host, cpus: f64| {
            let mut runs = runs(&["a"]);
            for run in &mut runs {
                let counters = &mut run.steps[0].counters;
                let of_minute = [
                    (metric::PROCESS_CPU_USER_US, cpus * 6e7),
                    (metric::PROCESS_CPU_KERNEL_US, 0.0),
                ];
                set(counters, &of_minute);
            }
            on_hosts(&RULE, &experiment(&["a"]), &runs, &[host])
        };
        assert_eq!(with(&host(), 3.0), []);
        assert_eq!(with(&smt(Some(false), 4), 3.0), []);
        assert_eq!(with(&smt(Some(true), 2), 1.9), []);
        let evidence = "readrandom of a: the worker used 3.0 CPUs, and the host's 4 CPUs share 2 \
                        cores (3 runs)";
        assert_eq!(with(&smt(Some(true), 2), 3.0), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn hosts_that_differ_in_smt_are_blocking() {
        let with = |other: &Host| {
            on_hosts(&RULE, &experiment(&["a"]), &runs(&["a"]), &[&smt(Some(false), 4), other])
        };
        assert_eq!(with(&smt(None, 4)), []);
        let evidence = "SMT was on for some runs and off for others";
        assert_eq!(with(&smt(Some(true), 2)), [(Severity::Blocking, evidence.to_owned())]);
    }
}
