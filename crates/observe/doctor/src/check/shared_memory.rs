//! The size of named shared memory.

use std::path::Path;

use model::record::Severity;
use model::units::parse_size;
use sampler::{Mount, parse_mounts};

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::{NO_MOUNTS, Source};

pub(crate) static CHECK: Check = Check {
    code: "shared_memory",
    name: "size of /dev/shm",
    severity: Severity::Warning,
    why: "Parallel queries and vacuums of Postgres use shared memory in /dev/shm. If /dev/shm is \
          full, these queries and vacuums fail, which is noticed only after the load. Most \
          containers have 64 MiB.",
    source: "[Docker run]",
    ..Check::of(Probe::in_manifests(run))
};

/// Bytes that are enough: a parallel vacuum with the default memory, and queries next to it.
const ENOUGH: u64 = 72 << 20;

fn run(source: &Source) -> Outcome {
    let Some(text) = source.read("/proc/self/mountinfo") else {
        return Outcome::unknown(NO_MOUNTS);
    };
    let mounts = parse_mounts(&text);
    let Some(mount) = mounts.iter().rfind(|mount| mount.point == Path::new("/dev/shm")) else {
        return Outcome::unknown(
            "nothing is mounted at /dev/shm, and Assay refuses Postgres \
                                 without it",
        );
    };
    if mount.mount_options.iter().chain(&mount.options).any(|option| option == "ro") {
        return Outcome::finding("read-only", "/dev/shm is mounted read-only")
            .fix("mount -o remount,rw,bind /dev/shm")
            .undo("mount -o remount,ro,bind /dev/shm");
    }
    let Some(bytes) = size(mount) else { return Outcome::fine("half of the memory") };
    let value = model::Bytes(bytes).to_string();
    if bytes >= ENOUGH {
        return Outcome::fine(value);
    }
    Outcome::finding(value.clone(), format!("the size of /dev/shm is {value}"))
        .fix("mount -o remount,size=256m /dev/shm")
        .fix("# when the container is started: docker run --shm-size=256m")
        .undo(format!("mount -o remount,size={bytes} /dev/shm"))
}

/// Returns the size that a mount was given; `None` for the default, half of the memory.
fn size(mount: &Mount) -> Option<u64> {
    let size = mount.options.iter().find_map(|option| option.strip_prefix("size="))?;
    Some(parse_size(&size.to_uppercase()).ok()?.0)
}
