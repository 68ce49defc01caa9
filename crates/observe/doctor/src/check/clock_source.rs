//! The kernel's clock source.

use model::host::CHEAP_CLOCK_SOURCES;
use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "clock_source",
    name: "clock source",
    severity: Severity::Blocking,
    why: "A clock outside of the CPU costs a system call and a slow read. With hpet, clock reads \
          took half of the CPU time of an I/O benchmark.",
    source: "[Callaghan 2022-10-24]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let dir = "/sys/devices/system/clocksource/clocksource0";
    let Some(name) = source.read(format!("{dir}/current_clocksource")) else {
        return Outcome::unknown("the kernel does not report its clock source");
    };
    if CHEAP_CLOCK_SOURCES.contains(&&*name) {
        return Outcome::fine(name);
    }
    let available = source.read(format!("{dir}/available_clocksource")).unwrap_or_default();
    let cheap = available.split_ascii_whitespace().find(|it| CHEAP_CLOCK_SOURCES.contains(it));
    let evidence = format!("the kernel reads the clock {name}");
    let found = Outcome::finding(name.clone(), evidence);
    match cheap {
        Some(cheap) => found.write(&format!("{dir}/current_clocksource"), cheap, &name),
        None => found.boot_with("clocksource=tsc tsc=reliable"),
    }
}
