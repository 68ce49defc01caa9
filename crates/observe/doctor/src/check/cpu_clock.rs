//! CPUs of different speeds.

use std::collections::BTreeSet;

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "cpu_clock",
    name: "CPU model and highest clock",
    severity: Severity::Warning,
    why: "If the machine has two kinds of CPUs, the speed of a thread depends on the core it \
          happens to run on.",
    source: "[Linux cpufreq]",
    ..Check::of(Probe::in_manifests(run))
};

/// The kernel reports kHz. Clocks within a tenth are of one kind, which is our choice.
const KHZ_PER_MHZ: u64 = 1_000;

fn run(source: &Source) -> Outcome {
    let model = source.read("/proc/cpuinfo").and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?.to_owned();
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let highest = |cpu: &String| source.number(format!("{cpu}/cpufreq/cpuinfo_max_freq"));
    let clocks: BTreeSet<u64> = source.cpus().iter().filter_map(highest).collect();
    let base = source.number("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency");
    let base = base.map(|khz| format!(", base {} MHz", khz / KHZ_PER_MHZ)).unwrap_or_default();
    let (Some(least), Some(most)) = (clocks.first(), clocks.last()) else {
        let reason = "the kernel reports neither the CPU model nor its clock";
        return model.map_or_else(|| Outcome::unknown(reason), Outcome::fine);
    };
    let model = model.unwrap_or_else(|| "unnamed CPU".to_owned());
    let value = format!("{model}{base}, up to {} MHz", most / KHZ_PER_MHZ);
    if *most * 10 <= *least * 11 {
        return Outcome::fine(value);
    }
    let least = least / KHZ_PER_MHZ;
    let evidence = format!("{value} on some CPUs, and up to {least} MHz on others");
    Outcome::finding(value, evidence)
        .fix("# bind servers and clients to CPUs of one kind: taskset -c LIST assay run ...")
}
