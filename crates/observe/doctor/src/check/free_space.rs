//! How full the file system is.

use model::record::Severity;
use model::{Bytes, percent, shell_word};

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "free_space",
    name: "free space",
    severity: Severity::Warning,
    why: "A full SSD has few free blocks for writes. A full SSD slows down, and its write latency \
          varies more.",
    source: "[Callaghan 2022-11-18]",
    ..Check::of(Probe::in_manifests(run))
};

/// Share in use from which it is full. Our choice.
const FULL: f64 = 0.8;

fn run(source: &Source) -> Outcome {
    let Some(space) = source.space().filter(|space| space.total > 0) else {
        return Outcome::unknown(
            "the size of the file system cannot be read: statvfs of the data directory fails",
        );
    };
    let used = 1.0 - model::float(space.free) / model::float(space.total);
    let value = format!("{} used of {}", percent(used), Bytes(space.total));
    if used <= FULL {
        return Outcome::fine(value);
    }
    let point = source.mount().map(|mount| mount.point.display().to_string()).unwrap_or_default();
    Outcome::finding(value.clone(), value)
        .fix(format!("# remove files that are not needed, then: fstrim {}", shell_word(&point)))
}
