//! How readily the kernel swaps.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "swappiness",
    name: "vm.swappiness",
    severity: Severity::Note,
    why: "With the default swappiness, the kernel moves memory of engines to swap in order to \
          enlarge the page cache.",
    source: "[Linux sysctl-vm]",
    ..Check::of(Probe::in_manifests(run))
};

/// Largest value for a machine that measures: the kernel swaps to avoid running out only.
const WANTED: u64 = 1;

fn run(source: &Source) -> Outcome {
    let has_swap = source.read("/proc/swaps").is_some_and(|text| text.lines().count() > 1);
    match source.number("/proc/sys/vm/swappiness") {
        None => Outcome::unknown("the kernel does not report its swappiness"),
        Some(value) if value <= WANTED || !has_swap => Outcome::fine(value.to_string()),
        Some(value) => {
            Outcome::finding(value.to_string(), format!("swappiness is {value}, and swap is on"))
                .sysctl("vm.swappiness", &WANTED.to_string(), &value.to_string())
        }
    }
}
