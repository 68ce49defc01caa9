//! A018: a CPU frequency that may change.

use super::{Checks, Observation, Rule, code};
use crate::context::PlanContext;

pub(crate) static RULE: Rule = Rule {
    code: code::A018,
    name: "CPU frequency",
    trigger: "the CPU frequency governor is known and is not `performance`; or turbo boost is on; \
              or at least a tenth of a step's readings of the clock of the fastest CPU are below \
              95 % of the median of these readings",
    why: "The clock then depends on load and heat: a run that is later, or that shares the CPU \
          with more threads, is slower.",
    remedy: "set the governor to `performance` and switch turbo boost off: echo 0 > \
             /sys/devices/system/cpu/cpufreq/boost",
    source: "[Callaghan 2022-10-24] (turbo disabled to reduce variance); our choice: the limits of \
             95 % and of a tenth of the readings",
    ..Rule::of(Checks { plan: Some(plan), ..Checks::NONE })
};

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let Some(host) = context.host else { return Vec::new() };
    let governor = host.governor.as_deref().filter(|name| *name != "performance");
    let mut parts = Vec::new();
    parts.extend(governor.map(|name| format!("the frequency governor is `{name}`")));
    parts.extend((host.is_turbo_on == Some(true)).then(|| "turbo boost is on".to_owned()));
    if parts.is_empty() { Vec::new() } else { vec![Observation::new(parts.join(", "))] }
}

#[cfg(test)]
mod tests {
    use model::Host;
    use model::record::{Finding, Severity};

    use super::*;
    use crate::testing::{experiment, host, on_hosts, runs, when};

    #[test]
    fn a_clock_that_moves_is_reported() {
        let with = |governor: &str, is_turbo_on| {
            let governor = Some(governor.to_owned());
            let host = Host { governor, is_turbo_on, ..host() };
            on_hosts(&RULE, &experiment(&["a"]), &runs(&["a"]), &[&host])
        };
        assert_eq!(with("performance", None), []);
        let evidence = "the frequency governor is `powersave`, turbo boost is on";
        assert_eq!(with("powersave", Some(true)), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn a_recorded_fall_of_the_clock_is_reported() {
        let evidence = "the fastest CPU's clock fell to 2400 MHz".to_owned();
        let finding = Finding {
            code: "A018".to_owned(),
            severity: Severity::Warning,
            evidence: evidence.clone(),
            remedy: "fix the clock".to_owned(),
        };
        let found = when(&RULE, |step| step.findings.push(finding.clone()));
        let expected = format!("readrandom of b: {evidence} (3 runs)");
        assert_eq!(found, [(Severity::Warning, expected)]);
    }
}
