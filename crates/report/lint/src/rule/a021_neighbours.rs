//! A021: CPU taken by other guests and processes.

use model::{StepRecord, metric, percent};

use super::{Checks, Observation, Rule, code};
use crate::context::RunContext;
use crate::facts::sampled_us;

pub(crate) static RULE: Rule = Rule {
    code: code::A021,
    name: "steal and neighbours",
    trigger: "Warning: other guests took more than 0.5 % of the host's CPU time over a step. \
              Warning: other processes of the host used more than 2 % of one CPU over a step, or \
              disturbed many seconds of a closed loop. Blocking: other processes of the host \
              disturbed every second of a closed loop that lasted two seconds or more",
    why: "Work of other processes does not describe the engine, and changes from run to run.",
    remedy: "stop the other processes of the host, or repeat on a host whose CPUs are not shared",
    source: "[Callaghan 2022-08-23] (stable platform); [Callaghan 2023-01-02]; our choice: the \
             limits",
    ..Rule::of(Checks { measured: &[stolen, foreign], ..Checks::NONE })
};

/// Share of the host's CPU time that other guests may take. Our choice.
const STEAL: f64 = 0.005;
/// CPUs that other processes may use. Our choice.
const FOREIGN: f64 = 0.02;

/// CPU time below which nothing is reported: the kernel accounts for it in ticks of 4 to 10 ms.
const TICKS_US: f64 = 50_000.0;

fn stolen(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let cpus = context.host.cpus.or_one();
    let share = step.counters.value(metric::HOST_STEAL_US).filter(|us| *us > TICKS_US)?
        / sampled_us(step)?
        / cpus;
    (share > STEAL).then(|| {
        let evidence = format!("another guest took {} of the CPU", percent(share));
        Observation::new(evidence).ranked("steal", share)
    })
}

/// Reports other processes, unless the runner recorded that they disturbed the step.
fn foreign(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let is_reported =
        step.invalid_intervals.is_some() || step.findings.iter().any(|one| one.code == RULE.code);
    let used_us =
        step.counters.value(metric::OTHERS_CPU_US).filter(|us| !is_reported && *us > TICKS_US)?;
    let share = used_us / sampled_us(step)?;
    (share > FOREIGN).then(|| {
        let evidence = format!("other processes of the host used {} of one CPU", percent(share));
        Observation::new(evidence).ranked("foreign", share)
    })
}

#[cfg(test)]
mod tests {
    use model::record::{SettleRecord, Severity};

    use super::*;
    use crate::testing::{set, when};

    #[test]
    fn steal_and_other_processes_are_reported_above_their_shares() {
        let with = |name, us| {
            when(&RULE, |step| set(&mut step.counters, &[(name, us), (metric::PAUSE_US, 0.0)]))
        };
        // Of 60 s on four CPUs.
        assert_eq!(with(metric::HOST_STEAL_US, 1.1e6), []);
        let evidence = "readrandom of b: another guest took 0.8 % of the CPU (3 runs)";
        assert_eq!(with(metric::HOST_STEAL_US, 2e6), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with(metric::OTHERS_CPU_US, 1.1e6), []);
        assert!(with(metric::OTHERS_CPU_US, 6e6)[0].1.contains("used 10 % of one CPU"));
    }

    /// Goal: counters of an older record are divided by the step and its settle, which they cover.
    #[test]
    fn share_of_a_step_counted_with_its_settle_is_over_both() {
        let found = when(&RULE, |step| {
            set(&mut step.counters, &[(metric::OTHERS_CPU_US, 660e6)]);
            let took_ns = model::Nanos::from_secs(600);
            step.settle = Some(SettleRecord { took_ns, ..SettleRecord::default() });
        });
        assert!(found[0].1.contains("used 100 % of one CPU"), "{found:?}");
    }
}
