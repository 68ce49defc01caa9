//! Whether the directories of builds and temporary files let programs run.

use std::path::PathBuf;

use model::record::Severity;
use model::shell_word;
use sampler::{holding, parse_mounts};

use super::cache_dir::variable;
use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::{NO_MOUNTS, Source};

pub(crate) static CHECK: Check = Check {
    code: "noexec",
    name: "noexec mounts",
    severity: Severity::Note,
    why: "Libraries and servers of builds run from the cache, and compilers run programs in the \
          temporary directory. A mount with noexec refuses to run libraries and programs.",
    source: "[mount 8]",
    ..Check::of(Probe::live(run))
};

fn run(source: &Source) -> Outcome {
    let Some(text) = source.read("/proc/self/mountinfo") else {
        return Outcome::unknown(NO_MOUNTS);
    };
    let mounts = parse_mounts(&text);
    let dir = |name: &str| variable(source, name).map(PathBuf::from);
    let cache = dir("XDG_CACHE_HOME").or_else(|| Some(dir("HOME")?.join(".cache")));
    let temporary = dir("TMPDIR").unwrap_or_else(|| "/tmp".into());
    let found = cache.into_iter().chain([temporary]).find_map(|dir| {
        let mount = holding(&mounts, &dir)?;
        mount.mount_options.iter().any(|option| option == "noexec").then_some((dir, &mount.point))
    });
    let Some((dir, point)) = found else { return Outcome::fine("none") };
    let point = shell_word(&point.display().to_string());
    Outcome::finding("noexec", format!("{} is on a mount with noexec", dir.display()))
        .fix(format!("mount -o remount,exec -- {point}"))
        .undo(format!("mount -o remount,noexec -- {point}"))
        .fix("# or name other directories: --cache-dir DIR, and in the shell: export TMPDIR=DIR")
}
