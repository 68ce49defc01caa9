//! Errors in the kernel's log since the boot.

use model::Privilege;
use model::record::Severity;
use model::units::many;

use super::{Check, Probe};
use crate::outcome::{Outcome, with_privilege};
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "kernel_log",
    name: "kernel log",
    severity: Severity::Warning,
    why: "Drives that time out, file systems with errors and throttled CPUs spoil every later run.",
    source: "[Callaghan 2022-10-24]",
    ..Check::of(Probe::live(run))
};

/// Longest quote of a line, characters.
const LONGEST: usize = 140;

/// What the kernel logs when hardware, drives or memory fail.
const PATTERNS: &[(Severity, &str)] = &[
    (Severity::Blocking, "I/O error"),
    (Severity::Blocking, "FPDMA QUEUED"),
    (Severity::Blocking, "EXT4-fs error"),
    (Severity::Blocking, "Corruption of in-memory data"),
    (Severity::Blocking, "Uncorrected hardware memory error"),
    (Severity::Blocking, "controller is down"),
    (Severity::Warning, "mce: [Hardware Error]"),
    (Severity::Warning, "AER: Correct"),
    (Severity::Warning, "temperature above threshold"),
    (Severity::Warning, "TSC found unstable"),
    (Severity::Warning, "Marking clocksource"),
    (Severity::Warning, "timeout, aborting"),
    (Severity::Warning, "blocked for more than"),
    (Severity::Note, "Out of memory: Killed process"),
];

fn run(source: &Source) -> Outcome {
    let text = match source.output("dmesg", &["--kernel"]) {
        Ok(text) => text,
        Err(reason) => return Outcome::unknown(with_privilege(reason, Privilege::KERNEL_LOG)),
    };
    let mut found: Vec<(Severity, String, usize)> = Vec::new();
    for (severity, pattern) in PATTERNS {
        let mut lines = text.lines().filter(|line| line.contains(pattern));
        if let Some(first) = lines.next() {
            let first: String = first.chars().take(LONGEST).collect();
            found.push((*severity, first, 1 + lines.count()));
        }
    }
    let Some(most) = found.iter().map(|(severity, ..)| *severity).max() else {
        return Outcome::fine("no errors");
    };
    let times: usize = found.iter().map(|(.., count)| count).sum();
    let lines: Vec<String> = found
        .iter()
        .map(|(_, line, count)| format!("{} (such lines: {count})", line.trim()))
        .collect();
    Outcome::finding(many(times, "line"), lines.join("; "))
        .severity(most)
        .fix("# find the cause: dmesg --kernel --ctime")
}
