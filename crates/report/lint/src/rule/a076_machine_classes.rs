//! A076: machines of several classes in one comparison.

use std::collections::BTreeMap;

use analysis::{HostDifference, host_differences, machines_of};
use model::{Host, Machine};

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;
use crate::difference::{Config, Difference, differences};

pub(crate) static RULE: Rule = Rule {
    code: "A076",
    name: "machines of several classes",
    trigger: "the fingerprints of a fleet's machines differ (CPU, number of CPUs, memory, device \
              or kernel), or the fingerprints are equal, but the kernel release or values of the \
              doctor's checks differ",
    why: "Each block is compared on its own machine, so the ratios are sound. But the verdict is \
          about a mixture of machines: it does not hold for machines of one class.",
    remedy: "run only on machines of one class (--constraint CLASS, or a file with the hosts of one \
             class), and give them the same settings (assay doctor)",
    source: "[Burdick Graybill 1992, section 3.1] (machines are a sample of one population); \
             [Callaghan 2023-01-23] (servers that were meant to be identical were not identical)",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

/// Facts that differ before the rest is only counted. Our choice.
const FACTS: usize = 4;

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let machines = machines_of(context.runs);
    let [first, others @ ..] = &machines[..] else { return Vec::new() };
    let is_one_class = others.iter().all(|one| one.host.is_same_machine(&first.host));
    let facts = if is_one_class { settings(&machines) } else { facts(&machines) };
    let (shown, rest) = facts.split_at(facts.len().min(FACTS));
    let rest = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let what = match (is_one_class, shown) {
        (true, []) => return Vec::new(),
        (true, _) => "the settings of the machines differ",
        (false, _) => "the machines are of several classes",
    };
    vec![Observation::new(format!("{what}: {}{rest}", shown.join("; ")))]
}

/// Returns each fact in which machines differ, with their names.
fn facts(machines: &[&Machine]) -> Vec<String> {
    let hosts: Vec<&Host> = machines.iter().map(|one| &one.host).collect();
    let text = |HostDifference { fact, values }: HostDifference| {
        let mut by_value: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (machine, value) in machines.iter().zip(values) {
            let value = value.unwrap_or_else(|| "unknown".to_owned());
            by_value.entry(value).or_default().push(&machine.name);
        }
        let values = by_value.iter().map(|(value, own)| format!("{value} ({})", own.join(", ")));
        format!("{}: {}", fact.replace('_', " "), values.collect::<Vec<_>>().join(", "))
    };
    host_differences(&hosts).into_iter().map(text).collect()
}

/// Returns each setting that is known of machines and differs, with the first machine of a value.
fn settings(machines: &[&Machine]) -> Vec<String> {
    let configs: Vec<Config<'_>> = machines
        .iter()
        .map(|one| Config { owner: &one.name, values: one.host.settings() })
        .collect();
    let mut names: Vec<&str> = configs.iter().flat_map(|one| one.values.keys().copied()).collect();
    names.sort_unstable();
    names.dedup();
    // Without names all would be compared, unset ones too.
    let found = if names.is_empty() { Vec::new() } else { differences(&names, &configs) };
    found.iter().map(|one: &Difference<'_>| format!("{}: {}", one.name, one.owned())).collect()
}

#[cfg(test)]
mod tests {
    use model::CpuCount;
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_runs, on_machines, runs};

    #[test]
    fn facts_of_machines_of_two_classes_are_named() {
        let spec = experiment(&["a", "b"]);
        let mut fleet = on_machines(&["a", "b"], &["n1", "n2", "n3"]);
        assert_eq!(in_runs(&RULE, &spec, &fleet), []);
        assert_eq!(in_runs(&RULE, &spec, &runs(&["a", "b"])), []);
        for run in &mut fleet[4..] {
            let host = &mut run.machine.as_mut().unwrap().host;
            host.fingerprint = "sample_8cpu_16gib".to_owned();
            host.cpus = CpuCount::of(8);
        }
        let evidence = "the machines are of several classes: cpus: 4 (n1, n2), 8 (n3)";
        assert_eq!(in_runs(&RULE, &spec, &fleet), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn settings_of_machines_of_one_class_are_named() {
        let spec = experiment(&["a", "b"]);
        let mut fleet = on_machines(&["a", "b"], &["n1", "n2", "n3"]);
        for (at, run) in fleet.iter_mut().enumerate() {
            let governor = if at < 4 { "performance" } else { "powersave" };
            run.machine.as_mut().unwrap().host.governor = Some(governor.to_owned());
        }
        let evidence = "the settings of the machines differ: governor: performance (n1), \
                        powersave (n3)";
        assert_eq!(in_runs(&RULE, &spec, &fleet), [(Severity::Warning, evidence.to_owned())]);
    }
}
