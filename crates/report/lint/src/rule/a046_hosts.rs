//! A046: runs of different machines.

use model::Host;
use model::record::Severity;

use super::{Checks, Observation};
use crate::context::ComparisonContext;
use crate::difference::{Check, Config, Report, observe};
use crate::registry::code;

pub(crate) static RULE: Checks =
    Checks { code: code::A046, comparison: Some(comparison), ..Checks::EMPTY };

/// The class of the machines must be the same.
const CLASS: Check = Check {
    names: &["fingerprint"],
    evidence: |_, found| format!("runs of different machines: {}", found[0].sorted()),
    ..Check::EMPTY
};
/// Their settings must be the same.
const SETTINGS: Check = Check {
    names: &["kernel", "governor", "huge pages"],
    report: Report::First,
    kind: "minor",
    severity: Some(Severity::Warning),
    evidence: |_, found| {
        let (name, values) = (found[0].name, found[0].sorted());
        format!("the machine's {name} changed between runs: {values}")
    },
    ..Check::EMPTY
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let configs: Vec<Config<'_>> = context.hosts.iter().map(|host| config(host)).collect();
    let found = observe(&[CLASS], "", &configs);
    if found.is_empty() { observe(&[SETTINGS], "", &configs) } else { found }
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
