//! A022: a CPU cap slowed the run down.

use model::StepRecord;
use model::record::Severity;

use super::{Rule, Seen};
use crate::context::RunContext;
use crate::look::{measured, percent, reading, span_us};

/// The run's control group was kept off the CPU by its cap.
pub(crate) static RULE: Rule = Rule {
    code: "A022",
    name: "throttling",
    severity: Severity::Blocking,
    trigger: "the control group of the run was throttled for more than 0.5 % of a step (a doubt for \
              less)",
    why: "What is measured is the cap: the engine stood still through no fault of its own.",
    remedy: "raise the CPU cap of the control group assay runs in",
    source: "reference, analysis, section 7, L22",
    run: Some(run),
    ..Rule::SILENT
};

/// Share of a step from which it blocks a verdict: that of void intervals.
const SHARE: f64 = 0.005;

fn run(context: &RunContext<'_>) -> Vec<Seen> {
    let tell = |step: &StepRecord| {
        let us = reading(&step.counters, "cgroup_throttled_us").filter(|us| *us > 0.0)?;
        let share = us / span_us(step)?;
        let severity = if share > SHARE { Severity::Blocking } else { Severity::Warning };
        let evidence = format!("a CPU cap took the CPU away for {} of the time", percent(share));
        Some(Seen::new(evidence).step(&step.step.name).graded(severity).sized("", share))
    };
    measured(context.run).filter_map(tell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{set, when};

    #[test]
    fn throttling_is_told() {
        let with = |us| when(&RULE, |step| set(&mut step.counters, &[("cgroup_throttled_us", us)]));
        assert_eq!(with(0.0), []);
        assert_eq!(with(1e5)[0].0, Severity::Warning);
        let evidence = "readrandom of b: a CPU cap took the CPU away for 10 % of the time (3 runs)";
        assert_eq!(with(6e6), [(Severity::Blocking, evidence.to_owned())]);
    }
}
