//! The file system of the data.

use model::record::Severity;
use model::shell_word;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::{NO_MOUNTS, Source};

pub(crate) static CHECK: Check = Check {
    code: "file_system",
    name: "file system",
    severity: Severity::Warning,
    why: "A file system in memory, on the network or above another file system is measured instead \
          of the drive. Without a journal, a crash may damage the file system, and an fsync costs \
          less.",
    source: "[Callaghan 2022-11-18]",
    ..Check::of(Probe::in_manifests(run))
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
    let Some(mount) = source.mount() else { return Outcome::unknown(NO_MOUNTS) };
    let kind = mount.kind;
    let is_foreign = FOREIGN.contains(&kind.as_str()) || kind.starts_with("fuse");
    let device = mount.source.rsplit('/').next().unwrap_or_default();
    let journal = source.read(format!("/sys/fs/ext4/{device}/journal_task"));
    if journal.is_some_and(|task| task.trim() == "<none>") {
        let value = format!("{kind} without a journal");
        return Outcome::finding(
            value.clone(),
            format!("{value}: an fsync is cheaper than with a journal"),
        )
        .fix(format!(
            "# unmount the file system, then: tune2fs -O has_journal {}",
            shell_word(&mount.source)
        ));
    }
    if !is_foreign {
        return Outcome::fine(kind);
    }
    let evidence = format!("the data directory {} is on {kind}", source.dir().display());
    Outcome::finding(kind, evidence)
        .fix("# choose a directory on a local drive with ext4 or XFS: --data-dir DIR")
}
