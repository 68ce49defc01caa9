//! A046: runs of different machines.

use std::collections::BTreeSet;

use model::Host;
use model::record::Severity;

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;
use crate::difference::{Config, Difference, differences};

pub(crate) static RULE: Rule = Rule {
    code: "A046",
    name: "hosts differ",
    severity: Severity::Blocking,
    trigger: "Blocking: the fingerprints of the hosts differ: CPU, number of CPUs, memory, device \
              or kernel. Warning: the fingerprints of the hosts are equal, but the kernel release \
              or values of the doctor's checks differ: governor, boost, clock source, mount \
              options and more",
    why: "Two machines differ more than most engines do.",
    remedy: "run all variants in one experiment on one machine",
    source: "[Callaghan 2023-01-23] (servers that were meant to be identical were not identical)",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

/// Reports hosts that differ, unless every run is of a fleet: it is compared on its own machine.
fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    if context.runs.iter().all(|run| run.machine.is_some()) {
        return Vec::new();
    }
    let configs: Vec<Config<'_>> = context.hosts.iter().map(|host| config(host)).collect();
    let is_other = |host: &&Host| context.hosts.iter().any(|one| !one.is_same_machine(host));
    let class = match context.hosts.iter().any(is_other) {
        true => differences(&["fingerprint"], &configs),
        false => Vec::new(),
    };
    let known = context.hosts.iter().flat_map(|host| host.settings().into_keys());
    let names: Vec<&str> = known.collect::<BTreeSet<&str>>().into_iter().collect();
    // Without names all would be compared, unset ones too.
    let settings = if names.is_empty() { Vec::new() } else { differences(&names, &configs) };
    let observation = match (&class[..], &settings[..]) {
        ([one, ..], _) => {
            Observation::new(format!("the runs come from different machines: {}", one.sorted()))
        }
        ([], [_, ..]) => {
            let changed = |one: &Difference<'_>| format!("{}: {}", one.name, one.sorted());
            let changed: Vec<String> = settings.iter().map(changed).collect();
            let evidence = format!("the machine changed between runs: {}", changed.join("; "));
            Observation::new(evidence).severity(Severity::Warning).ranked("minor", 0.0)
        }
        ([], []) => return Vec::new(),
    };
    vec![observation]
}

fn config(host: &Host) -> Config<'_> {
    let mut values = host.settings();
    values.insert("fingerprint", &host.fingerprint);
    Config { owner: "", values }
}

#[cfg(test)]
mod tests {
    use model::{CheckState, Host, HostCheck};

    use super::*;
    use crate::testing::{experiment, host, on_hosts, on_machines, runs};

    #[test]
    fn runs_of_different_machines_are_blocking() {
        let with =
            |other: Host| on_hosts(&RULE, &experiment(&["a"]), &runs(&["a"]), &[&host(), &other]);
        assert_eq!(with(host()), []);
        let evidence = "the runs come from different machines: other_8cpu, sample_4cpu_16gib";
        let other = Host { fingerprint: "other_8cpu".to_owned(), ..host() };
        assert_eq!(with(other.clone()), [(Severity::Blocking, evidence.to_owned())]);
        let fleet = on_machines(&["a"], &["n1", "n2", "n3"]);
        let hosts = [&host(), &other];
        assert_eq!(on_hosts(&RULE, &experiment(&["a"]), &fleet, &hosts), []);
        let newer = Host { kernel: "Linux 6.18.9".to_owned(), ..host() };
        assert_eq!(with(newer)[0].0, Severity::Warning);
    }

    #[test]
    fn values_of_the_doctor_that_changed_are_named() {
        let with = |governor: &str, boost: Option<&str>| {
            let check = |name: &str, value: Option<&str>| HostCheck {
                check: name.to_owned(),
                state: CheckState::Fine,
                value: value.map(str::to_owned),
            };
            let doctor = vec![check("governor", Some(governor)), check("boost", boost)];
            Host { doctor, ..host() }
        };
        let found = |one: Host, other: Host| {
            on_hosts(&RULE, &experiment(&["a"]), &runs(&["a"]), &[&one, &other])
        };
        let one = || with("performance", Some("off"));
        assert_eq!(found(one(), with("performance", None)), []);
        assert_eq!(found(one(), host()), []);
        let evidence = "the machine changed between runs: boost: off, on; \
                        governor: performance, powersave";
        let all = found(one(), with("powersave", Some("on")));
        assert_eq!(all, [(Severity::Warning, evidence.to_owned())]);
    }
}
