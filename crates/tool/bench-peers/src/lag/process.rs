//! Starts, pauses and awaits child processes.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use load::{Clock, SteadyClock};
use model::Nanos;
use rustix::process::{Pid, Signal, kill_process};

/// Starts a program in a directory, with its output captured.
pub(super) fn start(args: &[String], dir: &Path) -> Result<Child, String> {
    let [program, arguments @ ..] = args else { return Err("no program".to_owned()) };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(dir).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|error| format!("{program}: {error}"))
}

/// Waits for its end and returns its output.
pub(super) fn finish(child: Child) -> Result<String, String> {
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout) + &text(&output.stderr)),
        false => Err(format!("{}: {}", output.status, text(&output.stderr))),
    }
}

/// Stops a process for that long.
pub(super) fn pause(pid: u32, span: Nanos) -> Result<(), String> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or("no process id")?;
    let failure = |errno: rustix::io::Errno| format!("process {pid:?} cannot be stopped: {errno}");
    kill_process(pid, Signal::STOP).map_err(failure)?;
    rest(span);
    kill_process(pid, Signal::CONT).map_err(failure)
}

/// Waits for that long.
pub(super) fn rest(span: Nanos) {
    let clock = SteadyClock::kernel();
    clock.rest_until(clock.now().after(span));
}
