//! A046: runs of different machines.

use model::Host;
use model::record::Severity;

use super::{Observation, Rule, code};
use crate::context::ComparisonContext;
use crate::difference::{Config, differences};

pub(crate) static RULE: Rule = Rule {
    code: code::A046,
    name: "hosts differ",
    severity: Severity::Blocking,
    trigger: "the fingerprints of the hosts differ: CPU, number of CPUs, memory, device or kernel; \
              a warning where only kernel release, governor or huge pages differ",
    why: "The difference between two machines is larger than that between most engines.",
    remedy: "run all variants in one experiment on one machine",
    source: "[Callaghan 2023-01-23] (servers that were to be alike and were not)",
    comparison: Some(comparison),
    ..Rule::EMPTY
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let configs: Vec<Config<'_>> = context.hosts.iter().map(|host| config(host)).collect();
    let class = differences(&["fingerprint"], &configs);
    let settings = differences(&["kernel", "governor", "huge pages"], &configs);
    let observation = match (&class[..], &settings[..]) {
        ([one, ..], _) => Observation::new(format!("runs of different machines: {}", one.sorted())),
        ([], [one, ..]) => {
            let (name, values) = (one.name, one.sorted());
            let evidence = format!("the machine's {name} changed between runs: {values}");
            Observation::new(evidence).severity(Severity::Warning).ranked("minor", 0.0)
        }
        ([], []) => return Vec::new(),
    };
    vec![observation]
}

fn config(host: &Host) -> Config<'_> {
    let values = [
        ("fingerprint", Some(host.fingerprint.as_str())),
        ("kernel", Some(host.kernel.as_str())),
        ("governor", host.governor.as_deref()),
        ("huge pages", host.huge_pages.as_deref()),
    ];
    let values = values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    Config { owner: "", values }
}

#[cfg(test)]
mod tests {
    use model::Host;

    use super::*;
    use crate::testing::{experiment, host, on_hosts, runs};

    #[test]
    fn runs_of_different_machines_are_blocking() {
        let with =
            |other: Host| on_hosts(&RULE, &experiment(&["a"]), &runs(&["a"]), &[&host(), &other]);
        assert_eq!(with(host()), []);
        let evidence = "runs of different machines: other_8cpu, sample_4cpu_16gib";
        let other = Host { fingerprint: "other_8cpu".to_owned(), ..host() };
        assert_eq!(with(other), [(Severity::Blocking, evidence.to_owned())]);
        let newer = Host { kernel: "Linux 6.18.9".to_owned(), ..host() };
        assert_eq!(with(newer)[0].0, Severity::Warning);
    }
}
