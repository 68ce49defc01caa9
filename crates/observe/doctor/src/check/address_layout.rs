//! Random layout of the address space.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "address_layout",
    name: "entropy of the address layout",
    severity: Severity::Note,
    why: "Without randomisation all runs have the same address layout, which may be a lucky one. \
          Repetitions then cannot show the effect of the layout.",
    source: "[Mytkowicz 2009]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    match source.read("/proc/sys/kernel/randomize_va_space").as_deref() {
        None => Outcome::unknown("the kernel does not report its randomisation of addresses"),
        Some("0") => Outcome::finding("0", "every process has the same address layout").sysctl(
            "kernel.randomize_va_space",
            "2",
            "0",
        ),
        Some(value) => Outcome::fine(value),
    }
}
