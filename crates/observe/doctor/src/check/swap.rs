//! Swap areas in use.

use model::Bytes;
use model::record::Severity;

use super::Check;
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    name: "swap",
    subject: "swap",
    severity: Severity::Warning,
    why: "A page that returns from swap costs a read that no engine requested.",
    source: "[Callaghan 2022-08-23]",
    is_in_snapshot: true,
    run,
};

fn run(source: &Source) -> Outcome {
    let Some(text) = source.read("/proc/swaps") else {
        return Outcome::unknown("/proc/swaps cannot be read");
    };
    let areas = text.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        Some((*fields.first()?, fields.get(2)?.parse::<u64>().ok()?))
    });
    let (names, kib): (Vec<&str>, Vec<u64>) = areas.unzip();
    if names.is_empty() {
        return Outcome::fine("off");
    }
    let (areas, size) = (names.join(", "), Bytes(kib.iter().sum::<u64>() * 1024));
    Outcome::finding("on", format!("swap is on: {areas}, {size}"))
        .mend("swapoff -a")
        .undo("swapon -a")
}
