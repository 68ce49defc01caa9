//! A076: machines of several classes in one comparison.

use std::collections::{BTreeMap, BTreeSet};

use analysis::{HostDifference, host_differences, machines_of};
use model::{Host, Machine};

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;

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
    let hosts: Vec<&Host> = machines.iter().map(|one| &one.host).collect();
    let [first, others @ ..] = &hosts[..] else { return Vec::new() };
    let is_one_class = others.iter().all(|host| host.is_same_machine(first));
    let differences = if is_one_class { settings(&hosts) } else { host_differences(&hosts) };
    let facts: Vec<String> = differences.iter().map(|one| fact(&machines, one)).collect();
    let (shown, rest) = facts.split_at(facts.len().min(FACTS));
    let rest = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let what = match (is_one_class, shown) {
        (true, []) => return Vec::new(),
        (true, _) => "the settings of the machines differ",
        (false, _) => "the machines are of several classes",
    };
    vec![Observation::new(format!("{what}: {}{rest}", shown.join("; ")))]
}

/// Returns the values of a fact, each with the machines that have it.
fn fact(machines: &[&Machine], HostDifference { fact, values }: &HostDifference) -> String {
    let mut by_value: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (machine, value) in machines.iter().zip(values) {
        by_value.entry(value.as_deref().unwrap_or("unknown")).or_default().push(&machine.name);
    }
    let values = by_value.iter().map(|(value, own)| format!("{value} ({})", own.join(", ")));
    format!("{}: {}", fact.replace('_', " "), values.collect::<Vec<_>>().join(", "))
}

/// Returns the settings that are known of several hosts and differ.
fn settings(hosts: &[&Host]) -> Vec<HostDifference> {
    let names: BTreeSet<&str> = hosts.iter().flat_map(|host| host.settings().into_keys()).collect();
    let difference = |name: &str| {
        let value = |host: &&Host| host.settings().get(name).map(|it| (*it).to_owned());
        let values: Vec<Option<String>> = hosts.iter().map(value).collect();
        let known: BTreeSet<&String> = values.iter().flatten().collect();
        (known.len() > 1).then(|| HostDifference { fact: name.to_owned(), values })
    };
    names.into_iter().filter_map(difference).collect()
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
        let evidence = "the settings of the machines differ: governor: performance (n1, n2), \
                        powersave (n3)";
        assert_eq!(in_runs(&RULE, &spec, &fleet), [(Severity::Warning, evidence.to_owned())]);
    }
}
