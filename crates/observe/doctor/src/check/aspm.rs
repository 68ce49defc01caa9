//! Power saving of PCIe links.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;
use crate::source::chosen;

pub(crate) static CHECK: Check = Check {
    code: "aspm",
    name: "PCIe ASPM",
    severity: Severity::Warning,
    why: "A link that sleeps adds its wake-up latency to requests, and on some boards it causes \
          PCIe errors.",
    source: "[Callaghan 2022-10-24]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let is_off = source
        .read("/proc/cmdline")
        .is_some_and(|line| line.split_ascii_whitespace().any(|it| it == "pcie_aspm=off"));
    if is_off {
        return Outcome::fine("off");
    }
    let path = "/sys/module/pcie_aspm/parameters/policy";
    let text = source.read(path).unwrap_or_default();
    match chosen(&text) {
        None => Outcome::absent("the kernel does not manage the power of PCIe links"),
        Some("performance") => Outcome::fine("performance"),
        Some(policy) => {
            let found = Outcome::finding(policy, format!("the policy for PCIe links is {policy}"))
                .write(path, "performance", policy);
            // The firmware's choice may be any.
            if policy == "default" { found.severity(Severity::Note) } else { found }
        }
    }
}
