//! A running `perf record`, and its control descriptors.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use model::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};

use crate::error::ProfilerError;

/// Longest time that `perf` may take for an answer, seconds.
///
/// Our choice: the slowest answer of 1,000 took 1.1 s. The limit only ends waiting for ever.
const LIMIT_SECONDS: u64 = 60;
/// Characters of the messages that an error repeats. Our choice: two lines of a terminal.
const MESSAGE_CHARACTERS: usize = 160;

/// A running `perf record`, killed when it is dropped.
///
/// The commands go to its standard input and the answers come from its standard output, so that no
/// other child inherits a descriptor. Source: perf-record(1), `--control`.
#[derive(Debug)]
pub(crate) struct PerfProcess {
    child: Child,
    commands: ChildStdin,
    answers: ChildStdout,
    messages: File,
}

/// What `perf` did after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It has done what the command requests.
    Done,
    /// It has ended without an error, because the sampled processes have ended.
    Ended,
}

/// Returns the time of the clock that stamps the samples.
pub(crate) fn now() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    Nanos::from_secs(part(time.tv_sec)).after(Nanos(part(time.tv_nsec)))
}

impl PerfProcess {
    /// Starts `command`, whose messages go to a file next to `data`.
    pub(crate) fn start(mut command: Command, data: &Path) -> Result<Self, ProfilerError> {
        let mut path = data.as_os_str().to_owned();
        path.push(".messages");
        let path = Path::new(&path);
        let fail = ProfilerError::io(&format!("make {}", path.display()));
        let open = || File::options().read(true).write(true).create_new(true).open(path);
        let messages = open().map_err(fail)?;
        std::fs::remove_file(path).map_err(ProfilerError::io("unlink the messages of perf"))?;
        let stderr = messages.try_clone().map_err(ProfilerError::io("share a file"))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().map_err(|error| {
            let is_missing = error.kind() == ErrorKind::NotFound;
            let failed = || ProfilerError::io("start perf")(error);
            if is_missing { ProfilerError::NotInstalled } else { failed() }
        })?;
        child::kill_first(child.id());
        let commands = child.stdin.take().expect("its standard input is a pipe");
        let answers = child.stdout.take().expect("its standard output is a pipe");
        Ok(Self { child, commands, answers, messages })
    }

    /// Sends a command, and waits until `perf` has done it or has ended.
    ///
    /// # Errors
    /// As of [`ProfilerError`]: `perf` failed, or it has not answered in time.
    pub(crate) fn request(&mut self, command: &str) -> Result<Answer, ProfilerError> {
        if let Err(error) = self.commands.write_all(format!("{command}\n").as_bytes())
            && error.kind() != ErrorKind::BrokenPipe
        {
            return Err(ProfilerError::io("write to perf")(error));
        }
        self.answer(command)
    }

    /// Returns its CPU time; 0 where the kernel does not account it.
    pub(crate) fn cpu(&self) -> Nanos {
        // Source: Linux, Documentation/scheduler/sched-stats.rst, /proc/PID/schedstat.
        let text = child::process_file(self.child.id(), "schedstat").unwrap_or_default();
        let nanos = text.split_whitespace().next().and_then(|first| first.parse().ok());
        Nanos(nanos.unwrap_or(0))
    }

    /// Interrupts `perf`, and waits until it has ended by that.
    pub(crate) fn interrupt(&mut self) -> Result<(), ProfilerError> {
        // It fails only where perf has ended.
        kill_process(Pid::from_child(&self.child), Signal::INT).ok();
        self.child.wait().map(drop).map_err(ProfilerError::io("wait for perf"))
    }

    /// Waits until `perf` has written its file and ended.
    pub(crate) fn wait(&mut self) -> Result<(), ProfilerError> {
        while self.answer("stop")? == Answer::Done {}
        Ok(())
    }

    fn answer(&mut self, command: &str) -> Result<Answer, ProfilerError> {
        let until = now().after(Nanos::from_secs(LIMIT_SECONDS));
        while self.has_answer(command, until)? {
            let mut text = [0; 64];
            let length = self.answers.read(&mut text);
            match length.map_err(ProfilerError::io("read from perf"))? {
                0 => return self.ended(),
                length if text[..length].contains(&b'\n') => return Ok(Answer::Done),
                _ => {}
            }
        }
        Err(ProfilerError::Silent { command: command.to_owned(), seconds: LIMIT_SECONDS })
    }

    /// Returns whether `perf` has written or ended before the time `until`.
    fn has_answer(&self, command: &str, until: Nanos) -> Result<bool, ProfilerError> {
        let left = until.since(now()).0;
        let part = |value: u64| i64::try_from(value).unwrap_or(0);
        let second = Nanos::SECOND.0;
        let timeout = Timespec { tv_sec: part(left / second), tv_nsec: part(left % second) };
        let mut fds = [PollFd::new(&self.answers, PollFlags::IN)];
        let ready = rustix::io::retry_on_intr(|| poll(&mut fds, Some(&timeout)));
        let fail = ProfilerError::io(&format!("wait for the answer to `{command}`"));
        ready.map(|ready| ready > 0).map_err(|error| fail(error.into()))
    }

    /// Returns how `perf` has ended, whose output is at its end.
    fn ended(&mut self) -> Result<Answer, ProfilerError> {
        let status = self.child.wait().map_err(ProfilerError::io("wait for perf"))?;
        if status.success() {
            return Ok(Answer::Ended);
        }
        let mut bytes = Vec::new();
        let read = self.messages.rewind().and_then(|()| self.messages.read_to_end(&mut bytes));
        read.map_err(ProfilerError::io("read the messages of perf"))?;
        let text = String::from_utf8_lossy(&bytes);
        let messages = shortened(&text);
        Err(if ["perf_event_paranoid", "ermission"].iter().any(|word| text.contains(word)) {
            ProfilerError::Refused(messages)
        } else if text.contains("No such process") {
            ProfilerError::Ended
        } else {
            ProfilerError::Failed { status, messages }
        })
    }
}

impl Drop for PerfProcess {
    fn drop(&mut self) {
        // Both fail where perf has ended, which is fine.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Returns the first characters of messages on one line.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MESSAGE_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(script: &str) -> (tempfile::TempDir, PerfProcess) {
        let dir = tempfile::tempdir().unwrap();
        let mut command = child::command(child::Role::Program, "sh");
        command.args(["-c", script]);
        let process = PerfProcess::start(command, &dir.path().join("perf.data")).unwrap();
        (dir, process)
    }

    #[test]
    fn an_answer_is_read_with_its_final_zero() {
        let (_dir, mut process) = start("read a; printf 'ack\\n\\0'; read b; printf 'ack\\n\\0'");
        assert_eq!(process.request("ping").unwrap(), Answer::Done);
        assert_eq!(process.request("stop").unwrap(), Answer::Done);
        process.wait().unwrap();
    }

    #[test]
    fn an_end_without_an_error_is_the_end_of_the_processes() {
        let (_dir, mut process) = start("exit 0");
        assert_eq!(process.request("ping").unwrap(), Answer::Ended);
    }

    #[test]
    fn each_failure_names_its_remedy() {
        let error = |script| start(script).1.request("ping").unwrap_err();
        let refused = error("echo Consider adjusting perf_event_paranoid >&2; exit 255");
        assert!(refused.to_string().contains("sysctl -w kernel.perf_event_paranoid=1"));
        let gone = error("echo Could not create maps: No such process >&2; exit 244");
        assert!(matches!(gone, ProfilerError::Ended));
        let other = error("echo no space >&2; exit 3");
        assert!(other.to_string().ends_with("(exit status: 3): no space"), "{other}");
    }

    #[test]
    fn no_file_of_messages_is_left() {
        let (dir, _process) = start("read a");
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }
}
