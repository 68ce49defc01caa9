//! The file system of the data.

use model::record::Severity;

use super::Check;
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    name: "file_system",
    subject: "file system",
    severity: Severity::Warning,
    why: "Layers in memory, in the network or over other file systems are measured, not the drive.",
    source: "[Callaghan 2022-11-18]",
    is_in_snapshot: true,
    run,
};

/// File systems in memory, in the network, or over others.
const FOREIGN: &[&str] = &[
    "9p",
    "afs",
    "aufs",
    "ceph",
    "cifs",
    "glusterfs",
    "nfs",
    "nfs4",
    "overlay",
    "ramfs",
    "smb3",
    "tmpfs",
    "virtiofs",
];

fn run(source: &Source) -> Outcome {
    let Some(mount) = source.mount() else { return Outcome::unknown("the mounts cannot be read") };
    let kind = mount.kind;
    let is_foreign = FOREIGN.contains(&kind.as_str()) || kind.starts_with("fuse");
    if !is_foreign {
        return Outcome::fine(kind);
    }
    let evidence = format!("{} lies on {kind}", source.dir().display());
    Outcome::finding(kind, evidence)
        .mend("# choose a directory on a local drive with ext4 or XFS: --data-dir DIR")
}
