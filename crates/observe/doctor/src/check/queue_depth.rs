//! How many requests a drive takes at once.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "queue_depth",
    name: "queue depth",
    severity: Severity::Warning,
    why: "A SATA drive without command queueing serves only one request at a time.",
    source: "[Linux sysfs-block]",
    ..Check::of(Probe::in_manifests(run))
};

/// Depth of SATA's native command queueing, less the one tag that Linux reserves.
const ENOUGH: u64 = 31;

fn run(source: &Source) -> Outcome {
    let disk = match source.disk() {
        Ok(disk) => disk,
        Err(reason) => return Outcome::absent(reason),
    };
    let depth = std::fs::read_to_string(disk.sys_dir.join("device/queue_depth")).ok();
    let depth = depth.and_then(|text| text.trim().parse::<u64>().ok());
    let requests = source.queue("nr_requests").ok().map(|(text, _)| text);
    match (depth, requests) {
        (Some(depth), _) if depth < ENOUGH => {
            let path = format!("/sys/block/{}/device/queue_depth", disk.name);
            Outcome::finding(
                depth.to_string(),
                format!(
                    "the drive accepts {depth} requests at \
                                                         once"
                ),
            )
            .write(&path, &ENOUGH.to_string(), &depth.to_string())
        }
        (Some(depth), _) => Outcome::fine(depth.to_string()),
        (None, Some(requests)) => Outcome::fine(format!("{requests} requests")),
        (None, None) => Outcome::unknown("the kernel does not report the queue depth"),
    }
}
