//! A018: a CPU frequency that may change.

use super::{Observation, Rule, code};
use crate::context::PlanContext;

pub(crate) static RULE: Rule = Rule {
    code: code::A018,
    name: "CPU frequency",
    trigger: "the CPU frequency governor is known and not `performance`, or turbo boost is on",
    why: "The clock then follows load and heat: a run later, or next to more threads, is slower.",
    remedy: "set the governor to `performance` and switch boost off: echo 0 > \
             /sys/devices/system/cpu/cpufreq/boost",
    source: "[Callaghan 2022-10-24] (turbo disabled to reduce variance)",
    plan: Some(plan),
    ..Rule::EMPTY
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
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, host, on_hosts, runs};

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
}
