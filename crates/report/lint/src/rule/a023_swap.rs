//! A023: swapping and memory reclaim during a step.

use analysis::per_op;
use model::{StepRecord, StepRole, metric};

use super::{Checks, Observation, Rule};
use crate::context::RunContext;
use crate::facts::{bytes, sampled_us};

pub(crate) static RULE: Rule = Rule {
    code: "A023",
    name: "swap and reclaim",
    trigger: "Warning: the host moved more than 1 MiB to or from swap during a step. Blocking: the \
              host moved more than 1 MiB to or from swap during a step, and more than 1 MiB of the \
              worker's memory was in swap. Warning: tasks of the host had to reclaim memory \
              themselves more than once a second. Warning: a step of a cached workload (byrx, \
              byos) only reads, and more than 0.01 page faults per operation read from storage",
    why: "A page that returns from swap costs a storage read that no engine requested. The run \
          used memory that the host did not have.",
    remedy: "stop other programs that need memory, switch swap off (swapoff -a), or use smaller \
             caches",
    source: "[Callaghan 2022-08-23] (watch RSS, it might lead to OOM); proc_vmstat(5)",
    ..Rule::of(Checks { measured: &[swapped, stalled, faulted], ..Checks::NONE })
};

/// Bytes below which swapping is not reported: an idle daemon's pages that move once.
const TRICKLE: f64 = 1_048_576.0;
/// Stalls a second from which they are more than a burst of the page cache.
const STALLS_PER_S: f64 = 1.0;
/// Page faults of an operation that may read storage. Our choice.
const FAULTS: f64 = 0.01;
/// Workloads whose rows are to be in memory, by the names of their presets.
const CACHED: &[&str] = &["byrx", "byos"];

/// Reports swapping; only the worker's own blocks a verdict.
fn swapped(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let total = |name| step.counters.value(name).unwrap_or_default();
    let (back, out) = (total(metric::HOST_SWAP_IN_BYTES), total(metric::HOST_SWAP_OUT_BYTES));
    let moved = back + out;
    let own = step.gauges_max.value(metric::SWAP_BYTES).unwrap_or_default();
    (moved > TRICKLE).then(|| {
        let (back, out, swapped) = (bytes(back), bytes(out), bytes(own));
        let evidence = format!(
            "the host read {back} from swap and wrote {out} to swap; {swapped} of the worker's \
             memory"
        );
        Observation::new(format!("{evidence} were in swap"))
            .blocking_if(own > TRICKLE)
            .ranked("swap", moved)
    })
}

fn stalled(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let per_s = step.counters.value(metric::HOST_DIRECT_RECLAIMS)? / sampled_us(step)? * 1e6;
    (per_s > STALLS_PER_S).then(|| {
        let evidence =
            format!("tasks of the host had to reclaim memory themselves {per_s:.1} times a second");
        Observation::new(evidence).ranked("stalls", per_s)
    })
}

fn faulted(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let workload = context.experiment.workload.as_deref();
    workload.filter(|name| CACHED.contains(name))?;
    let faults = per_op(step, metric::MAJOR_FAULTS).filter(|_| step.role() == StepRole::Read)?;
    (faults > FAULTS).then(|| {
        let evidence = format!(
            "the workload is meant to be cached, but {faults:.2} page faults per operation \
                     read from storage"
        );
        Observation::new(evidence).ranked("faults", faults)
    })
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_runs, runs, set, when};

    #[test]
    fn swapping_is_reported_and_the_worker_s_own_is_blocking() {
        let with = |moved: f64, own: f64| {
            when(&RULE, |step| {
                set(&mut step.counters, &[(metric::HOST_SWAP_IN_BYTES, moved)]);
                set(&mut step.counters, &[(metric::HOST_SWAP_OUT_BYTES, moved)]);
                set(&mut step.gauges_max, &[(metric::SWAP_BYTES, own)]);
            })
        };
        assert_eq!(with(0.0, 0.0), []);
        assert_eq!(with(4e5, 1e9), []);
        let evidence = "readrandom of b: the host read 9.54 MiB from swap and wrote 9.54 MiB to \
                        swap; 0 B of the worker's memory were in swap (3 runs)";
        assert_eq!(with(1e7, 0.0), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with(1e7, 2e6)[0].0, Severity::Blocking);
    }

    #[test]
    fn tasks_that_must_free_memory_are_reported() {
        let with = |count| {
            when(&RULE, |step| set(&mut step.counters, &[(metric::HOST_DIRECT_RECLAIMS, count)]))
        };
        assert_eq!(with(59.0), []);
        let evidence = "readrandom of b: tasks of the host had to reclaim memory themselves 2.0 \
                        times a second (3 runs)";
        assert_eq!(with(120.0), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn page_faults_that_read_are_reported_of_cached_workloads_alone() {
        let with = |workload: &str, faults: f64| {
            let mut runs = runs(&["a"]);
            for run in &mut runs {
                set(&mut run.steps[0].counters, &[(metric::MAJOR_FAULTS, faults)]);
            }
            let spec = experiment(&["a"]);
            let spec = model::Experiment { workload: Some(workload.to_owned()), ..spec };
            in_runs(&RULE, &spec, &runs)
        };
        assert_eq!(with("byos", 5_000.0), []);
        assert_eq!(with("iobuf", 12_000.0), []);
        let found = with("byos", 12_000.0);
        let evidence = "readrandom of a: the workload is meant to be cached, but 0.02 page faults \
                        per operation read from storage (3 runs)";
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
    }
}
