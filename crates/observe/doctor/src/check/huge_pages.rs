//! Transparent huge pages.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;
use crate::source::chosen;

pub(crate) static CHECK: Check = Check {
    code: "huge_pages",
    name: "transparent huge pages",
    severity: Severity::Warning,
    why: "With the setting `always`, engines use memory for pages they never touch, and the \
          kernel compacts memory during runs.",
    source: "[Linux transhuge]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    let text = source.read(path).unwrap_or_default();
    match chosen(&text) {
        None => Outcome::absent("the kernel does not have huge pages"),
        Some("always") => {
            Outcome::finding("always", "the kernel may use huge pages for every large allocation")
                .write(path, "madvise", "always")
        }
        Some(value) => Outcome::fine(value),
    }
}
