//! Whether the kernel takes the drive for a disk.

use model::record::Severity;
use model::shell_word;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "rotational",
    name: "kind of drive",
    severity: Severity::Note,
    why: "For a rotating disk the kernel uses other schedulers and collects entropy from requests. \
          Results of rotating disks are not comparable with results of SSDs.",
    source: "[Linux sysfs-block]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    match source.queue("rotational") {
        Err(reason) => Outcome::absent(reason),
        Ok((text, _)) if text == "0" => Outcome::fine("SSD"),
        Ok((text, path)) => {
            Outcome::finding("disk", "the kernel treats the drive as a rotating disk")
                .fix(format!(
                    "echo 0 > {path} # if the drive is an SSD; some hypervisors do not report it"
                ))
                .undo(format!("echo {} > {path}", shell_word(&text)))
        }
    }
}
