//! A store's process, as its host observes it.

use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Seek as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use child::Role;
use runner::{MessageReader, MessageWriter};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;

use crate::message::{Order, StoreMessage};

/// Longest time for a store to open or to be compared. Our choice: it only ends what would hang.
const WITHIN: Duration = Duration::from_secs(300);
/// Polls until every thread of a process has stopped, and the pause between two.
///
/// Our choice: a minute, as a thread that waits for a busy disk stops late.
const STOP_POLLS: u32 = 120_000;
const POLL: Duration = Duration::from_micros(500);

/// The process of an order; killed when dropped.
pub(crate) struct StoreProcess {
    process: Child,
    socket: UnixStream,
    output: MessageWriter<UnixStream>,
    input: MessageReader<BufReader<UnixStream>>,
    /// What the store prints.
    errors: File,
}

impl StoreProcess {
    /// Starts a process in a directory, and sends its order.
    pub(crate) fn start(order: &Order, dir: &Path) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let errors = tempfile::tempfile_in(dir)?;
        let process = child::command(Role::Worker, std::env::current_exe()?)
            .arg("cuts")
            .current_dir(dir)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(errors.try_clone()?)
            .spawn()?;
        // A message in a buffer does not make the socket readable.
        let input = MessageReader::new(BufReader::with_capacity(1, socket.try_clone()?));
        let output = MessageWriter::new(socket.try_clone()?);
        let mut started = Self { process, socket, output, input, errors };
        started.send(order)?;
        Ok(started)
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.output.send(message)
    }

    /// Waits for the next message.
    ///
    /// # Errors
    /// How the process ended, or that it hangs.
    pub(crate) fn receive(&mut self) -> Result<StoreMessage, String> {
        let waited = self.receive_within(WITHIN)?;
        waited.ok_or_else(|| format!("it hangs: no answer within {} s", WITHIN.as_secs()))
    }

    /// Waits for the next message, at most so long.
    ///
    /// # Errors
    /// How the process ended.
    pub(crate) fn receive_within(
        &mut self,
        time: Duration,
    ) -> Result<Option<StoreMessage>, String> {
        let io = |error: io::Error| error.to_string();
        let wait = Timespec::try_from(time).map_err(|error| error.to_string())?;
        let mut readable = [PollFd::new(&self.socket, PollFlags::IN)];
        // The end of the process makes it readable, too.
        if poll(&mut readable, Some(&wait)).map_err(|errno| io(errno.into()))? == 0 {
            return Ok(None);
        }
        match self.input.receive() {
            Ok(Some(message)) => Ok(Some(message)),
            Ok(None) => {
                let status = self.process.wait().map_err(io)?;
                Err(format!("its process ended ({status}){}", self.printed()))
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Stops every thread of the process, if it has not ended.
    ///
    /// # Errors
    /// When it does not stop.
    pub(crate) fn freeze(&mut self) -> io::Result<()> {
        if self.process.try_wait()?.is_some() {
            return Ok(());
        }
        kill_process(Pid::from_child(&self.process), Signal::STOP)?;
        let tasks = format!("/proc/{}/task", self.process.id());
        for _ in 0..STOP_POLLS {
            if has_stopped(Path::new(&tasks))? {
                return Ok(());
            }
            std::thread::park_timeout(POLL);
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "a thread of the store does not stop"))
    }

    /// Lets a stopped process go on.
    pub(crate) fn resume(&self) -> io::Result<()> {
        Ok(kill_process(Pid::from_child(&self.process), Signal::CONT)?)
    }

    /// Kills the process, and waits for its end.
    pub(crate) fn kill(&mut self) {
        // It has ended already, or ends now.
        self.process.kill().ok();
        self.process.wait().ok();
    }

    /// Returns the last line that the store printed, after a colon.
    fn printed(&mut self) -> String {
        let mut printed = Vec::new();
        // Without its text the end is reported all the same.
        self.errors.rewind().and_then(|()| self.errors.read_to_end(&mut printed)).ok();
        let printed = String::from_utf8_lossy(&printed);
        let last = printed.lines().rev().find(|line| !line.trim().is_empty());
        last.map_or_else(String::new, |line| format!(": {}", line.trim()))
    }
}

impl Drop for StoreProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns whether every thread has stopped, or has ended: a store may crash at any time.
fn has_stopped(tasks: &Path) -> io::Result<bool> {
    for task in fs::read_dir(tasks)? {
        let Ok(status) = fs::read_to_string(task?.path().join("status")) else { continue };
        if !["\nState:\tT", "\nState:\tZ"].iter().any(|still| status.contains(still)) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_stopped_once_each_is_stopped_or_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let add = |task: &str, state: &str| {
            fs::create_dir_all(dir.path().join(task)).unwrap();
            let status = format!("Name:\tstore\nState:\t{state}\nTgid:\t7\n");
            fs::write(dir.path().join(task).join("status"), status).unwrap();
            has_stopped(dir.path()).unwrap()
        };
        assert!(add("7", "Z (zombie)"));
        assert!(add("8", "T (stopped)"));
        assert!(!add("9", "D (disk sleep)"));
    }
}
