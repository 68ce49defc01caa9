//! Whether the file system takes direct I/O.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "direct_io",
    name: "direct I/O",
    severity: Severity::Note,
    why: "Variants with direct_io are refused if the file system of the data does not support it. \
          Some file systems in memory, and file systems above file systems in memory, do not \
          support direct I/O.",
    source: "[open 2]",
    ..Check::of(Probe::live(run))
};

fn run(source: &Source) -> Outcome {
    match source.takes_direct_io() {
        None => Outcome::unknown("no file can be created in the directory of the data"),
        Some(true) => Outcome::fine("taken"),
        Some(false) => {
            let kind = source.mount().map_or_else(|| "it".to_owned(), |mount| mount.kind);
            Outcome::finding("refused", format!("{kind} refuses direct I/O"))
                .fix("# put the data on another file system with --data-dir")
        }
    }
}
