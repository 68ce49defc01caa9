//! Whether builds of engines have a directory.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "cache_dir",
    name: "directory of builds",
    severity: Severity::Note,
    why: "Builds are stored below XDG_CACHE_HOME or HOME. If neither is set, engines with a \
          version need --cache-dir.",
    source: "[XDG Base Directory]",
    ..Check::of(Probe::live(run))
};

fn run(source: &Source) -> Outcome {
    if source.read("/proc/self/environ").is_none() {
        return Outcome::unknown(
            "the environment cannot be read: /proc/self/environ is not \
                                 readable",
        );
    }
    match ["XDG_CACHE_HOME", "HOME"].into_iter().find(|name| variable(source, name).is_some()) {
        // A path is no fact of the machine.
        Some(name) => Outcome::fine(format!("from {name}")),
        None => Outcome::finding("none", "neither XDG_CACHE_HOME nor HOME is set").fix(
            "# name a directory with --cache-dir, or in the shell that runs assay: export \
                   HOME=DIR",
        ),
    }
}

/// Returns the value of a variable of this process; `None` for an empty one.
pub(super) fn variable(source: &Source, name: &str) -> Option<String> {
    let text = source.read("/proc/self/environ")?;
    let value = text.split('\0').find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='));
    value.filter(|value| !value.is_empty()).map(str::to_owned)
}
