//! Simultaneous multithreading.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "smt",
    name: "SMT (hyper-threads)",
    severity: Severity::Warning,
    why: "Two threads on one core are slower than one thread alone, and the slowdown depends on \
          the other thread.",
    source: "[Callaghan 2022-10-24]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    match source.read("/sys/devices/system/cpu/smt/active").as_deref() {
        None => Outcome::unknown("the kernel does not report whether SMT is on"),
        Some("0") => Outcome::fine("off"),
        Some(_) => Outcome::finding("on", "cores run several threads at once").write(
            "/sys/devices/system/cpu/smt/control",
            "off",
            "on",
        ),
    }
}
