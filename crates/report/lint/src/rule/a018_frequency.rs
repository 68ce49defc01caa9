//! A018: the CPU may change its speed while it is measured.

use model::record::Severity;

use super::{Rule, Seen};
use crate::context::PlanContext;

/// The CPU's frequency is not pinned.
pub(crate) static RULE: Rule = Rule {
    code: "A018",
    name: "CPU frequency",
    severity: Severity::Warning,
    trigger: "the CPU frequency governor is known and not `performance`, or turbo boost is on",
    why: "The clock then follows load and heat: who runs later, or beside more threads, runs slower.",
    remedy: "set the governor to `performance` and switch boost off: echo 0 > \
             /sys/devices/system/cpu/cpufreq/boost",
    source: "seed 000, \"Small servers for performance testing, v4\" (turbo disabled to reduce \
             variance); reference, analysis, section 7, L18",
    plan: Some(plan),
    ..Rule::SILENT
};

fn plan(context: &PlanContext<'_>) -> Vec<Seen> {
    let Some(host) = context.host else { return Vec::new() };
    let governor = host.governor.as_deref().filter(|name| *name != "performance");
    let mut parts = Vec::new();
    parts.extend(governor.map(|name| format!("the frequency governor is `{name}`")));
    parts.extend((host.is_turbo_on == Some(true)).then(|| "turbo boost is on".to_owned()));
    if parts.is_empty() { Vec::new() } else { vec![Seen::new(parts.join(", "))] }
}

#[cfg(test)]
mod tests {
    use model::Host;

    use super::*;
    use crate::testing::{experiment, host, on_hosts, runs};

    #[test]
    fn a_clock_that_moves_is_told() {
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
