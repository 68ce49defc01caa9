//! A022: throttling by a CPU cap.

use model::record::Severity;
use model::{StepRecord, metric, percent};

use super::{Observation, Rule, code};
use crate::context::RunContext;
use crate::facts::sampled_us;

pub(crate) static RULE: Rule = Rule {
    code: code::A022,
    name: "throttling",
    severity: Severity::Blocking,
    trigger: "the control group of the run was throttled for more than 0.5 % of a step (a warning \
              for less)",
    why: "What is measured is the cap: the engine waited for CPU.",
    remedy: "raise the CPU cap of the control group assay runs in",
    source: "our choice: 0.5 %, as for invalid intervals",
    measured: &[throttled],
    ..Rule::EMPTY
};

/// Share of a step from which it blocks a verdict: that of invalid intervals.
const SHARE: f64 = 0.005;

fn throttled(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let us = step.counters.value(metric::CGROUP_THROTTLED_US).filter(|us| *us > 0.0)?;
    let share = us / sampled_us(step)?;
    let evidence = format!("a CPU cap took the CPU away for {} of the time", percent(share));
    Some(Observation::new(evidence).blocking_if(share > SHARE).ranked("", share))
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
        let evidence = "readrandom of b: a CPU cap took the CPU away for 10 % of the time (3 runs)";
        assert_eq!(with(6e6), [(Severity::Blocking, evidence.to_owned())]);
    }
}
