//! The namespaces in which cuts are made.
//!
//! Mounts of a mount namespace end with its last process, and the processes of a PID namespace with
//! its first: whatever kills Assay, nothing is left.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use child::Role;
use crashfs::{BlockDisk, Disk};
use model::{CutKind, CutLevel};

use crate::error::CutError;
use crate::place::fs_kind;

/// Enters a mount and a PID namespace whose first process is the program that follows.
///
/// Source: unshare(1).
const UNSHARE: &[&str] = &["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
/// Enters a user namespace in which an ordinary account may mount, and stays that account: servers
/// refuse root.
const AS_USER: &[&str] = &["--user", "--map-current-user", "--keep-caps"];

/// Returns the command of a host of cuts of a level.
pub(crate) fn host_command(level: CutLevel, program: &Path) -> Command {
    match level {
        CutLevel::Process => child::command(Role::Worker, program),
        CutLevel::File | CutLevel::Block => {
            let mut command = child::command(Role::Worker, "unshare");
            command.args(unshare_args()).arg(program);
            command
        }
    }
}

fn unshare_args() -> impl Iterator<Item = OsString> {
    let is_root = rustix::process::geteuid().is_root();
    let as_user = if is_root { &[][..] } else { AS_USER };
    UNSHARE.iter().chain(as_user).map(OsString::from)
}

/// Checks that cuts of a kind can be made here; nothing stays mounted.
///
/// # Errors
/// [`CutError::Lacking`] with the remedy.
pub fn check_level(kind: CutKind) -> Result<(), CutError> {
    let lacking = |reason: String| CutError::Lacking(kind.level, reason);
    if kind.level == CutLevel::Process {
        return Ok(());
    }
    if child::find("unshare").is_none() {
        return Err(lacking("the program unshare is missing: install util-linux".to_owned()));
    }
    let checked = match kind.file_system {
        Some(file_system) => BlockDisk::check(fs_kind(file_system)),
        None => Disk::check(),
    };
    checked.map_err(|error| lacking(error.to_string()))?;
    let tried = child::command(Role::Program, "unshare")
        .args(unshare_args())
        .arg("true")
        .stdin(Stdio::null())
        .output();
    match tried {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(lacking(format!(
                "this account may make no namespaces ({reason}): run as root, or allow user \
                 namespaces; in a container, add the capability SYS_ADMIN"
            )))
        }
        Err(error) => Err(lacking(format!("unshare does not start: {error}"))),
    }
}
