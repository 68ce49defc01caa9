//! Sector and block size of XFS.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "xfs_geometry",
    name: "geometry of XFS",
    severity: Severity::Note,
    why: "If XFS sectors are smaller than the drive's physical blocks, the log writes parts of \
          blocks, and the drive must read them first.",
    source: "[xfs_info 8]",
    ..Check::of(Probe::live(run))
};

fn run(source: &Source) -> Outcome {
    let Some(mount) = source.mount().filter(|mount| mount.kind == "xfs") else {
        return Outcome::absent("the file system is not XFS");
    };
    let point = mount.point.display().to_string();
    let text = match source.output("xfs_info", &[&point]) {
        Ok(text) => text,
        Err(reason) => return Outcome::unknown(reason),
    };
    let value = |name: &str| {
        let rest = text
            .split(|c: char| c.is_whitespace() || c == ',')
            .find_map(|it| it.strip_prefix(name));
        rest.and_then(|value| value.parse::<u64>().ok())
    };
    let (Some(sector), Some(block)) = (value("sectsz="), value("bsize=")) else {
        return Outcome::unknown("the output of xfs_info contains no sizes");
    };
    let found = format!("sectors of {sector}, blocks of {block} bytes");
    let physical = source.queue("physical_block_size").ok().and_then(|(text, _)| text.parse().ok());
    match physical {
        Some(physical) if sector < physical => {
            let evidence = format!("{found}, on physical blocks of {physical} bytes");
            Outcome::finding(found, evidence).fix(format!(
                "# save the data, then create the file system again: mkfs.xfs -s size={physical}"
            ))
        }
        _ => Outcome::fine(found),
    }
}
