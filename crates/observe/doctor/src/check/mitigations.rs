//! Mitigations of CPU vulnerabilities.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "mitigations",
    name: "mitigations of CPU vulnerabilities",
    severity: Severity::Note,
    why: "Mitigations make system calls and context switches slower. Results with mitigations are \
          not comparable with results without mitigations, and production servers have mitigations \
          on.",
    source: "[Linux hw-vuln]",
    ..Check::of(Probe::in_manifests(run))
};

/// Parameters that switch mitigations off. Source: [Linux kernel-parameters].
const OFF: &[&str] = &["mitigations=off", "nopti", "pti=off", "nospectre_v2", "spectre_v2=off"];

fn run(source: &Source) -> Outcome {
    let Some(line) = source.read("/proc/cmdline") else {
        return Outcome::unknown(
            "the kernel's command line cannot be read: /proc/cmdline is not readable",
        );
    };
    let off: Vec<&str> = line.split_ascii_whitespace().filter(|it| OFF.contains(it)).collect();
    if off.is_empty() {
        let dir = "/sys/devices/system/cpu/vulnerabilities";
        let is_mitigated = |name: &String| {
            source.read(format!("{dir}/{name}")).is_some_and(|text| text.starts_with("Mitigation"))
        };
        let active = source.names(dir).into_iter().filter(is_mitigated).count();
        return Outcome::fine(format!("{active} active"));
    }
    let value = off.join(" ");
    let evidence = format!("the kernel was booted with {value}");
    Outcome::finding(value.clone(), evidence)
        .fix(format!("# remove {value} from the kernel's command line, then reboot"))
        .undo(format!("# add {value} to the kernel's command line, then reboot"))
}
