//! Whether freed blocks are reported to the SSD.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "trim",
    name: "TRIM",
    severity: Severity::Note,
    why: "An SSD that is not informed of freed blocks copies the freed blocks, so writes become \
          slower as the drive ages.",
    source: "[Linux sysfs-block]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let is_disk = source.queue("rotational").is_ok_and(|(text, _)| text == "1");
    match source.queue("discard_max_bytes") {
        Err(reason) => Outcome::absent(reason),
        Ok((text, _)) if text != "0" => Outcome::fine("yes"),
        Ok(_) if is_disk => Outcome::absent("the drive is a rotating disk"),
        Ok(_) => Outcome::finding("no", "the device does not support TRIM")
            .fix("# enable discard in the hypervisor, the RAID or the encryption layer"),
    }
}
