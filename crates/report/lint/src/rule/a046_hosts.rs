//! A046: runs of different machines.

use std::collections::BTreeSet;

use model::record::Severity;

use super::{Rule, Seen};
use crate::context::ComparisonContext;

/// The runs compared were made on machines of different classes.
pub(crate) static RULE: Rule = Rule {
    code: "A046",
    name: "hosts differ",
    severity: Severity::Blocking,
    trigger: "the fingerprints of the hosts differ: CPU, number of CPUs, memory, device or kernel; a \
              doubt where only kernel release, governor or huge pages differ",
    why: "The difference between two machines is larger than that between most engines.",
    remedy: "run all variants in one experiment on one machine",
    source: "seed 002, \"The insert benchmark on ARM and x86 cloud servers\" (servers that were to be \
             alike and were not); reference, analysis, section 7, A vs B checks",
    comparison: Some(comparison),
    ..Rule::SILENT
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Seen> {
    let differing = |of: fn(&model::Host) -> Option<&str>| {
        let values: BTreeSet<&str> = context.hosts.iter().filter_map(|host| of(host)).collect();
        (values.len() > 1).then(|| values.into_iter().collect::<Vec<_>>().join(", "))
    };
    if let Some(classes) = differing(|host| Some(&host.fingerprint)) {
        return vec![Seen::new(format!("runs of different machines: {classes}"))];
    }
    let minor = [
        ("kernel", differing(|host| Some(&host.kernel))),
        ("governor", differing(|host| host.governor.as_deref())),
        ("huge pages", differing(|host| host.huge_pages.as_deref())),
    ];
    let tell = |(what, values): (&str, Option<String>)| {
        let evidence = format!("the machine's {what} changed between runs: {}", values?);
        Some(Seen::new(evidence).graded(Severity::Warning).sized("minor", 0.0))
    };
    minor.into_iter().filter_map(tell).take(1).collect()
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
