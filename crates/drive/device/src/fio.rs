//! The program fio, run as a child process.

use std::fmt;
use std::io::{self, Write as _};
use std::os::fd::RawFd;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use child::Role;
use model::IoSample;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::counters::read_stat;
use crate::error::DeviceError;
use crate::job::{Job, Place};
use crate::output;

/// Time between two checks for a request to stop.
const POLL: Duration = Duration::from_millis(50);

/// The installed fio.
pub struct Fio {
    version: String,
    is_interrupted: Box<dyn Fn() -> bool + Sync>,
}

impl fmt::Debug for Fio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fio").field("version", &self.version).finish_non_exhaustive()
    }
}

impl Fio {
    /// Finds fio on the search path; its runs end when `is_interrupted` returns true.
    ///
    /// # Errors
    /// When it cannot be run, with the remedy.
    pub fn find(is_interrupted: impl Fn() -> bool + Sync + 'static) -> Result<Self, DeviceError> {
        let output = child::command(Role::Program, "fio").arg("--version").output();
        let output = output.map_err(not_run)?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(Self { version, is_interrupted: Box::new(is_interrupted) })
    }

    /// Returns its version as it reports it: `fio-3.33`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs one job in `dir`, and waits for its end.
    ///
    /// `sys_dir` is the directory of the device whose counters are read before and after it.
    ///
    /// # Errors
    /// When fio cannot be run, reports an error, its output cannot be read, or it is interrupted.
    pub fn run(
        &self,
        job: &Job<'_>,
        dir: &Path,
        sys_dir: Option<&Path>,
    ) -> Result<IoSample, DeviceError> {
        let before = sys_dir.and_then(read_stat);
        let mut process = child::command(Role::Program, "fio")
            .args(["--output-format=json", "-"])
            .current_dir(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(not_run)?;
        let sent = match process.stdin.take() {
            Some(mut stdin) => stdin.write_all(text(job).as_bytes()),
            None => Ok(()),
        };
        let output = self.wait(process)?;
        let after = sys_dir.and_then(read_stat);
        let sample = output::parse(&String::from_utf8_lossy(&output.stdout));
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            // Its first line has the cause.
            let first = message.lines().find(|line| !line.trim().is_empty());
            return Err(match (first, sample) {
                (Some(line), _) => DeviceError::Fio(named(line.trim_start_matches("fio: "), job)),
                (None, Err(error)) => error,
                (None, Ok(_)) => DeviceError::Fio(format!("it ended with {}", output.status)),
            });
        }
        // A job file that fio did not read whole is its error, reported above.
        sent.map_err(not_run)?;
        let issued = before.zip(after).and_then(|(before, after)| after.since(before));
        Ok(IoSample { issued, ..sample? })
    }

    /// Waits for the end of a process; on request it is killed, and not waited for.
    ///
    /// What fio has written leaves the page cache before it ends, which may take long.
    fn wait(&self, process: Child) -> Result<Output, DeviceError> {
        let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
        // A descriptor, for a number may be another process's by then.
        let pid = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let kill = || pid.as_ref().map(|pid| pidfd_send_signal(pid, Signal::KILL));
        let (send, ended) = sync_channel(1);
        // The end of a process that was killed is not received.
        let waiting = move || drop(send.send(process.wait_with_output()));
        if let Err(error) = thread::Builder::new().spawn(waiting) {
            // A process that cannot be interrupted must not run.
            kill();
            return Err(not_run(error));
        }
        loop {
            match ended.recv_timeout(POLL) {
                Ok(output) => return output.map_err(not_run),
                Err(RecvTimeoutError::Timeout) if !(self.is_interrupted)() => {}
                Err(_) => {
                    kill();
                    return Err(DeviceError::Interrupted);
                }
            }
        }
    }
}

/// Returns the error of a program that was not run: missing, or refused by the system.
fn not_run(error: io::Error) -> DeviceError {
    if error.kind() == io::ErrorKind::NotFound {
        return DeviceError::Missing(error);
    }
    DeviceError::Fio(format!("the system does not run the program: {error}"))
}

/// Returns a message of fio with the device's name in place of its descriptor.
fn named(message: &str, job: &Job<'_>) -> String {
    let place = job.place;
    let name = |descriptor| message.replace(&descriptor_path(descriptor), &place.file);
    place.descriptor.map_or_else(|| message.to_owned(), name)
}

/// Returns the path at which a child finds a descriptor that it inherits.
fn descriptor_path(descriptor: RawFd) -> String {
    format!("/proc/self/fd/{descriptor}")
}

/// Returns the job file as fio reads it: a file or a device by the descriptor that it inherits.
///
/// In a path, `:` would separate two files, and `$` begin a variable.
fn text(job: &Job<'_>) -> String {
    let Some(descriptor) = job.place.descriptor else { return job.text() };
    let place = Place { file: descriptor_path(descriptor), ..job.place.clone() };
    Job { place: &place, ..*job }.text()
}
