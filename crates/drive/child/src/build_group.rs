//! The process group of build tools, which ends with this process.
//!
//! A compiler driver starts compilers, a package manager starts scripts: the kernel's signal at the
//! death of a parent reaches the driver alone.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// Kills its own process group when the other end of its standard input is closed, which the kernel
/// does when this process ends, however that happens.
const GUARD: &str = "read -r _; kill -KILL 0";

/// The first process of the group; `None` where it does not start.
static FIRST: OnceLock<Option<Child>> = OnceLock::new();

/// Puts a command into the group, or into a group of its own where there is none.
pub(crate) fn join(command: &mut Command) -> &mut Command {
    let first = FIRST.get_or_init(|| {
        let mut guard = Command::new("/bin/sh");
        guard.env_clear().args(["-c", GUARD]).current_dir("/").process_group(0);
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
    });
    let group = first.as_ref().and_then(|guard| i32::try_from(guard.id()).ok());
    command.process_group(group.unwrap_or(0))
}
