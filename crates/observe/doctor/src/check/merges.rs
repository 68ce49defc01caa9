//! Whether adjacent requests are merged.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "merges",
    name: "merging of requests",
    severity: Severity::Note,
    why: "Without merging, sequential work sends many more requests to the drive than on machines \
          with merging.",
    source: "[Linux sysfs-block]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    match source.queue("nomerges") {
        Err(reason) => Outcome::absent(reason),
        Ok((text, _)) if text == "0" => Outcome::fine("on"),
        Ok((text, path)) => {
            Outcome::finding("off", format!("nomerges is {text}")).write(&path, "0", &text)
        }
    }
}
