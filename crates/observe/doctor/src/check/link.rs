//! Speed and width of the drive's PCIe link.

use std::path::Path;

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "link",
    name: "PCIe link of the drive",
    severity: Severity::Warning,
    why: "A narrow or slow slot limits the throughput of a drive.",
    source: "[Linux sysfs-pci]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let disk = match source.disk() {
        Ok(disk) => disk,
        Err(reason) => return Outcome::absent(reason),
    };
    let read = |dir: &Path, name: &str| {
        std::fs::read_to_string(dir.join(name)).ok().map(|text| text.trim().to_owned())
    };
    let link = disk.sys_dir.ancestors().find_map(|dir| {
        let now = |what: &str| read(dir, &format!("current_link_{what}"));
        let most = |what: &str| read(dir, &format!("max_link_{what}"));
        Some(((now("speed")?, now("width")?), (most("speed")?, most("width")?)))
    });
    let Some((now, most)) = link else {
        return Outcome::absent(format!("the kernel reports no PCIe link of {}", disk.name));
    };
    let text = |(speed, width): &(String, String)| format!("{speed} x{width}");
    if now == most {
        return Outcome::fine(text(&now));
    }
    let evidence = format!(
        "the link runs at {}, and the drive supports \
                            {}",
        text(&now),
        text(&most)
    );
    Outcome::finding(text(&now), evidence).fix("# put the drive into another slot; check the BIOS")
}
