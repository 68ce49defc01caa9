//! The kernel's signal to a child whose parent dies.
#![expect(unsafe_code, reason = "code that runs between fork and exec has no safe interface")]

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// Makes the child end when the thread that starts it ends, however that happens.
///
/// Source: prctl(2), `PR_SET_PDEATHSIG`.
pub(crate) fn end_with_parent(command: &mut Command) {
    let parent = getpid();
    // SAFETY: the closure makes two system calls, which are async-signal-safe, and allocates
    // nothing: an error made of a number has no text of its own.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // A parent that died before the call sends no signal.
            if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
        });
    }
}
