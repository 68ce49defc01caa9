//! The limit of open files.

use model::Privilege;
use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "open_files",
    name: "limit of open files",
    severity: Severity::Note,
    why: "Engines with many files fail at this limit, or close and reopen files, which takes time.",
    source: "[RocksDB Tuning Guide]",
    ..Check::of(Probe::in_manifests(run))
};

/// Files that are enough: an LSM of 4 TiB in files of 64 MiB. Our choice.
const ENOUGH: u64 = 65_536;

fn run(source: &Source) -> Outcome {
    let Some(limit) = limit_of(source, "Max open files") else {
        return Outcome::unknown(
            "the limit cannot be read: /proc/self/limits is not readable (`ulimit -n` shows it)",
        );
    };
    // "unlimited" is no number.
    if limit.parse::<u64>().map_or(true, |limit| limit >= ENOUGH) {
        return Outcome::fine(limit);
    }
    Outcome::finding(limit.clone(), format!("a process may open {limit} files"))
        .fix(raise(&format!("-n {ENOUGH}"), &format!("n={ENOUGH}")))
        .undo(format!("# in that shell: ulimit -S -n {limit}"))
}

/// Returns the line that raises a limit: the soft one, or the hard one by a privilege.
pub(super) fn raise(soft: &str, hard: &str) -> String {
    let command = Privilege::HARD_LIMITS.1.replace("LIMIT=AMOUNT", hard);
    format!("# in the shell that runs assay: ulimit {soft} || {command}")
}

/// Returns the soft limit of this name, as the kernel writes it.
pub(super) fn limit_of(source: &Source, name: &str) -> Option<String> {
    let text = source.read("/proc/self/limits")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next().map(str::to_owned)
}
