//! Whether memory may be overcommitted.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "overcommit",
    name: "vm.overcommit_memory",
    severity: Severity::Note,
    why: "If the kernel refuses to overcommit memory, engines that reserve address space fail or \
          run with smaller caches.",
    source: "[Linux sysctl-vm]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    match source.read("/proc/sys/vm/overcommit_memory").as_deref() {
        None => Outcome::unknown("the kernel does not report whether it overcommits memory"),
        Some("2") => Outcome::finding("2", "the kernel refuses to overcommit memory").sysctl(
            "vm.overcommit_memory",
            "0",
            "2",
        ),
        Some(value) => Outcome::fine(value),
    }
}
