//! The I/O scheduler of an SSD.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;
use crate::source::chosen;

pub(crate) static CHECK: Check = Check {
    code: "scheduler",
    name: "I/O scheduler",
    severity: Severity::Note,
    why: "A scheduler for rotating disks delays and reorders requests to an SSD.",
    source: "[Linux sysfs-block]",
    ..Check::of(Probe::in_manifests(run))
};

/// Schedulers that add little to an SSD.
const PLAIN: &[&str] = &["none", "noop", "mq-deadline", "deadline"];

fn run(source: &Source) -> Outcome {
    let (text, path) = match source.queue("scheduler") {
        Ok(found) => found,
        Err(reason) => return Outcome::absent(reason),
    };
    let Some(name) = chosen(&text) else { return Outcome::fine("none") };
    let is_disk = source.queue("rotational").is_ok_and(|(text, _)| text == "1");
    if is_disk || PLAIN.contains(&name) {
        return Outcome::fine(name);
    }
    let evidence = format!("the scheduler of an SSD is {name}");
    Outcome::finding(name, evidence).write(&path, "none", name)
}
