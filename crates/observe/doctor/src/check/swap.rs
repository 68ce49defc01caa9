//! Swap areas in use.

use model::record::Severity;
use model::{Bytes, shell_word};

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "swap",
    name: "swap",
    severity: Severity::Warning,
    why: "A page that returns from swap costs a storage read that no engine requested.",
    source: "[Callaghan 2022-08-23]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let Some(text) = source.read("/proc/swaps") else {
        return Outcome::unknown("/proc/swaps cannot be read");
    };
    let areas: Vec<Area<'_>> = text.lines().skip(1).filter_map(Area::parse).collect();
    if areas.is_empty() {
        return Outcome::fine("off");
    }
    let names: Vec<&str> = areas.iter().map(|area| area.name).collect();
    let size = Bytes(areas.iter().map(|area| area.kib * 1024).sum());
    let undo: Vec<String> = areas.iter().map(Area::turned_on).collect();
    Outcome::finding("on", format!("swap is on: {}, {size}", names.join(", ")))
        .fix("swapoff -a")
        .undo(undo.join("; "))
}

/// A swap area: a line of `/proc/swaps`.
struct Area<'a> {
    /// As the kernel escapes it.
    name: &'a str,
    kib: u64,
    /// Negative where the kernel chose it.
    priority: i32,
}

impl<'a> Area<'a> {
    /// Source: proc(5), `/proc/swaps`: name, type, size, used, priority.
    fn parse(line: &'a str) -> Option<Self> {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [name, _, kib, _, priority] = fields[..] else { return None };
        Some(Self { name, kib: kib.parse().ok()?, priority: priority.parse().ok()? })
    }

    /// Returns the command that turns it on again: it need not be in `/etc/fstab`.
    fn turned_on(&self) -> String {
        let priority = match self.priority {
            0.. => format!("-p {} ", self.priority),
            _ => String::new(),
        };
        format!("swapon {priority}{}", shell_word(&self.name.replace("\\040", " ")))
    }
}
