//! Firmware of the drive.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "firmware",
    name: "firmware of the drive",
    severity: Severity::Warning,
    why: "Some firmware versions wear the drive down or make the drive read-only. Other firmware \
          versions change the speed of the drive.",
    source: "[Samsung SSD firmware]",
    ..Check::of(Probe::in_manifests(run))
};

/// Firmware with faults that its vendor fixed in the next version.
const FAULTY: &[(&str, &str)] =
    &[("Samsung SSD 980 PRO", "3B2QGXA7"), ("Samsung SSD 990 PRO", "0B2QJXD7")];

fn run(source: &Source) -> Outcome {
    let disk = match source.disk() {
        Ok(disk) => disk,
        Err(reason) => return Outcome::absent(reason),
    };
    let device = disk.sys_dir.join("device");
    let file = |name: &str| std::fs::read_to_string(device.join(name)).ok();
    let Some(version) = file("firmware_rev").or_else(|| file("rev")) else {
        return Outcome::unknown(format!(
            "the kernel does not report the firmware of \
                                         {}",
            disk.name
        ));
    };
    let (version, model) = (version.trim(), disk.model().unwrap_or_default());
    let value = format!("{model} {version}");
    let is_bad = |(of, bad): &(&str, &str)| model.starts_with(of) && version == *bad;
    if !FAULTY.iter().any(is_bad) {
        return Outcome::fine(value);
    }
    Outcome::finding(value.clone(), format!("{value} has a known fault"))
        .fix("# update the firmware: fwupdmgr update, or the vendor's program")
}
