//! Whether sockets of servers have a directory.

use std::path::{Path, PathBuf};

use model::record::Severity;
use sampler::{holding, parse_mounts};

use super::cache_dir::variable;
use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::{NO_MOUNTS, Source};

pub(crate) static CHECK: Check = Check {
    code: "temporary_dir",
    name: "directory of sockets and temporary files",
    severity: Severity::Warning,
    why: "Servers that Assay starts listen on sockets in /tmp, or in TMPDIR if /tmp is not \
          writable. If neither is writable, no server starts.",
    source: "[Docker run]",
    ..Check::of(Probe::live(run))
};

fn run(source: &Source) -> Outcome {
    let Some(text) = source.read("/proc/self/mountinfo") else {
        return Outcome::unknown(NO_MOUNTS);
    };
    let mounts = parse_mounts(&text);
    let is_writable = |dir: &PathBuf| {
        let mount = holding(&mounts, dir);
        mount.is_some_and(|mount| !mount.mount_options.iter().any(|option| option == "ro"))
    };
    let dirs = [Some(PathBuf::from("/tmp")), variable(source, "TMPDIR").map(PathBuf::from)];
    match dirs.into_iter().flatten().find(is_writable) {
        Some(dir) if dir == Path::new("/tmp") => Outcome::fine("/tmp"),
        // A path is no fact of the machine.
        Some(_) => Outcome::fine("TMPDIR"),
        None => Outcome::finding(
            "none",
            "/tmp is mounted read-only, and TMPDIR does not name \
                                          another directory",
        )
        .fix("# in the shell that runs assay: export TMPDIR=/var/tmp")
        .fix("# or give the container a writable /tmp: docker run --tmpfs /tmp"),
    }
}
