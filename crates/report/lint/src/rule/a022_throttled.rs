//! A022: throttling by a CPU cap or by heat.

use model::record::Severity;
use model::{StepRecord, metric, percent};

use super::{Checks, Observation, Rule};
use crate::context::RunContext;
use crate::facts::sampled_us;

pub(crate) static RULE: Rule = Rule {
    code: "A022",
    name: "throttling",
    severity: Severity::Blocking,
    trigger: "Blocking: the control group of the run was throttled for more than 0.5 % of a step. \
              Warning: the control group of the run was throttled for at most 0.5 % of a step. \
              Warning: a counter of thermal throttling rose during a step",
    why: "The figures measure the CPU cap: the engine waited for a CPU, or had a slower CPU.",
    remedy: "raise the CPU cap of the control group in which assay runs",
    source: "our choice: the limit of 0.5 %, which is also the limit on invalid intervals",
    ..Rule::of(Checks { measured: &[throttled, heated], ..Checks::NONE })
};

/// Share of a step from which it blocks a verdict: that of invalid intervals.
const SHARE: f64 = 0.005;

fn throttled(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let us = step.counters.value(metric::CGROUP_THROTTLED_US).filter(|us| *us > 0.0)?;
    let share = us / sampled_us(step)?;
    let evidence =
        format!("the CPU cap took the CPU away from the run for {} of the time", percent(share));
    Some(Observation::new(evidence).blocking_if(share > SHARE).ranked("", share))
}

fn heated(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    step.counters.value(metric::HOST_CPU_THROTTLES).filter(|events| *events > 0.0)?;
    let observation = Observation::new("a CPU lowered its clock because of heat");
    let remedy = "cool the machine, or switch turbo boost off, and repeat";
    Some(observation.severity(Severity::Warning).ranked("heat", 0.0).remedy(remedy))
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{set, when};

    #[test]
    fn throttling_is_reported() {
        let with =
            |us| when(&RULE, |step| set(&mut step.counters, &[(metric::CGROUP_THROTTLED_US, us)]));
        assert_eq!(with(0.0), []);
        assert_eq!(with(1e5)[0].0, Severity::Warning);
        let evidence = "readrandom of b: the CPU cap took the CPU away from the run for 10 % of \
                        the time (3 runs)";
        assert_eq!(with(6e6), [(Severity::Blocking, evidence.to_owned())]);
    }

    #[test]
    fn a_step_that_throttled_for_heat_is_named() {
        let with =
            |n| when(&RULE, |step| set(&mut step.counters, &[(metric::HOST_CPU_THROTTLES, n)]));
        assert_eq!(with(0.0), []);
        let evidence = "readrandom of b: a CPU lowered its clock because of heat (3 runs)";
        assert_eq!(with(4.0), [(Severity::Warning, evidence.to_owned())]);
    }
}
