//! Options of the mount.

use model::record::Severity;
use model::shell_word;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::{NO_MOUNTS, Source};

pub(crate) static CHECK: Check = Check {
    code: "mount_options",
    name: "mount options",
    severity: Severity::Note,
    why: "With relatime or strictatime a read may cause a write. Without barriers an fsync is not \
          durable. With discard, removing a file may stall the drive.",
    source: "[mount 8]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let Some(mount) = source.mount() else { return Outcome::unknown(NO_MOUNTS) };
    let mut all: Vec<&str> =
        mount.mount_options.iter().chain(&mount.options).map(String::as_str).collect();
    all.sort_unstable();
    all.dedup();
    let (value, point) = (all.join(","), shell_word(&mount.point.display().to_string()));
    let has = |options: &[&str]| all.iter().copied().find(|option| options.contains(option));
    let remount = |option: &str| format!("mount -o remount,{option} -- {point}");
    if let Some(option) = has(&["nobarrier", "barrier=0"]) {
        return Outcome::finding(
            value.clone(),
            format!("{option}: an fsync does not reach the medium"),
        )
        .severity(Severity::Blocking)
        .fix(remount("barrier"))
        .undo(remount(option));
    }
    if let Some(option) = has(&["sync", "dirsync"]) {
        return Outcome::finding(
            value.clone(),
            format!("{option}: every write waits for the drive"),
        )
        .severity(Severity::Warning)
        .fix(remount("async"))
        .undo(remount(option));
    }
    if has(&["discard"]).is_some() {
        return Outcome::finding(
            value.clone(),
            "discard: removing a file sends TRIM commands, and other requests wait for them",
        )
        .fix(format!("{}; systemctl enable --now fstrim.timer", remount("nodiscard")))
        .undo(remount("discard"));
    }
    if has(&["noatime"]).is_some() {
        return Outcome::fine(value);
    }
    let (old, evidence) = match has(&["relatime"]) {
        Some(old) => (old, "relatime: a read may write the time of access"),
        None => ("strictatime", "a read writes the time of access"),
    };
    Outcome::finding(value.clone(), evidence).fix(remount("noatime")).undo(remount(old))
}
