//! Processes of clients: run, started and paused; their CPU.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use child::Role;
use load::{Clock, SteadyClock};
use model::Nanos;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::Serialize;

/// What a comparison returns; the error is a message.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Option: run as our side of a comparison; a file with a task in JSON follows.
pub(crate) const OURS: &str = "--ours";

/// Returns the command line of this program as our side; the task is written to `scratch`.
pub(crate) fn own_args(task: &impl Serialize, scratch: &Path) -> Result<Vec<String>> {
    let myself = std::env::current_exe()?.display().to_string();
    let file = write_secret(&scratch.join("task.json"), &serde_json::to_string(task)?)?;
    Ok(vec![myself, OURS.to_owned(), file])
}

/// Writes a file that only this user can read, and returns its path: a command line is public.
pub(crate) fn write_secret(path: &Path, text: &str) -> Result<String> {
    let mut file =
        File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    Ok(path.display().to_string())
}

/// Runs a program to its end and returns what it printed.
pub(crate) fn run(args: &[String]) -> Result<String> {
    finish(start(args, Path::new("."))?).map_err(|error| format!("{}: {error}", args[0]).into())
}

/// Starts a program in a directory, with its output captured.
pub(crate) fn start(args: &[String], dir: &Path) -> Result<Child> {
    let mut command = child::command(Role::Worker, &args[0]);
    command.args(&args[1..]).current_dir(dir).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|error| format!("{}: {error}", args[0]).into())
}

/// Waits for its end and returns its output.
pub(crate) fn finish(child: Child) -> Result<String> {
    let output = child.wait_with_output()?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into())
        }
    }
}

/// Stops a process for that long.
pub(crate) fn pause(pid: u32, span: Nanos) -> Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or("no process id")?;
    kill_process(pid, Signal::STOP)?;
    rest(span);
    Ok(kill_process(pid, Signal::CONT)?)
}

/// Waits for that long.
pub(crate) fn rest(span: Nanos) {
    let clock = SteadyClock::kernel();
    clock.rest_until(clock.now().after(span));
}

/// Returns the CPU time of all ended children, user and system, us.
///
/// Includes threads and their own children, to the microsecond: ticks of `/proc` are too coarse
/// for a process of one second.
pub(crate) fn children_cpu_us() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64)
}

/// Pins this process and its future children to the last permitted core.
pub(crate) fn pin_to_one_core() -> Result<()> {
    let allowed = sched_getaffinity(None)?;
    let mut one = CpuSet::new();
    let last = (0..CpuSet::MAX_CPU).rev().find(|core| allowed.is_set(*core));
    one.set(last.ok_or("no core is permitted")?);
    Ok(sched_setaffinity(None, &one)?)
}

/// Returns the file of a program on the path, or how to install it.
pub(crate) fn path_of(program: &str, package: &str) -> std::result::Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join(program)).find(|it| it.is_file());
    found.ok_or_else(|| format!("{program} is missing: install Debian's package `{package}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_children_are_counted() {
        let before = children_cpu_us().unwrap();
        run(&["true".to_owned()]).unwrap();
        assert!(children_cpu_us().unwrap() > before);
    }
}
