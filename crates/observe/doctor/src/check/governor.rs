//! The CPU frequency governor.

use std::collections::BTreeSet;

use model::record::Severity;
use model::shell_word;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "governor",
    name: "CPU frequency governor",
    severity: Severity::Warning,
    why: "With governors other than `performance`, the clock follows the load: it differs in a \
          run after a pause or next to more threads.",
    source: "[Linux cpufreq]",
    ..Check::of(Probe::in_manifests(run))
};

/// Keeps the clock at its highest.
const WANTED: &str = "performance";

fn run(source: &Source) -> Outcome {
    let path = |cpu: &String| format!("{cpu}/cpufreq/scaling_governor");
    let governors: BTreeSet<String> =
        source.cpus().iter().filter_map(|cpu| source.read(path(cpu))).collect();
    let value = governors.iter().cloned().collect::<Vec<_>>().join(", ");
    match governors.first() {
        None => Outcome::unknown("the kernel has no CPU frequency driver, as in most guests"),
        Some(_) if value == WANTED => Outcome::fine(value),
        Some(first) => {
            let evidence = format!("the CPU frequency governor is {value}");
            Outcome::finding(value, evidence).fix(command(WANTED)).undo(command(first))
        }
    }
}

fn command(governor: &str) -> String {
    let governor = shell_word(governor);
    format!("echo {governor} | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
}
