//! The worker's child process: start, messages, end.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use child::Role;
use load::{Clock, SteadyClock};
use model::Nanos;
use rustix::process::{Pid, Signal, kill_process_group};

use super::placement::listed;
use crate::error::RunnerError;
use crate::message::{Command, Message};

/// Messages that may wait unread; a worker that sends faster waits.
const MESSAGES_MAX: usize = 64;
/// Bytes of the worker's error stream to keep.
const STDERR_MAX: usize = 16 << 10;
/// Time a worker has to end once its output has.
const END_GRACE: Nanos = Nanos::from_secs(5);
/// Interval at which its end is polled.
const END_POLL: Nanos = Nanos::from_millis(5);

/// How a worker program is started.
#[derive(Debug, Clone)]
pub struct WorkerProgram {
    /// The program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// A running worker.
pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<WorkerEvent>,
    stderr: Option<thread::JoinHandle<String>>,
    /// It was waited for: its id may belong to another process by now.
    is_reaped: bool,
}

/// An event from a worker.
pub(crate) enum WorkerEvent {
    /// A message.
    Message(Box<Message>),
    /// A line of the engine's own on stdout.
    EngineOutput,
    /// No line within the timeout.
    Silence,
    /// The end of its output.
    End,
}

impl Process {
    /// Starts a worker in a process group of its own, so that Ctrl-C reaches only the parent.
    ///
    /// Its environment has no passwords, and `preload` when given; it runs on `cpus`, or on all
    /// when they are none.
    pub(crate) fn start(
        program: &WorkerProgram,
        dir: &Path,
        preload: Option<&str>,
        cpus: &[u32],
    ) -> Result<Self, RunnerError> {
        let mut command = placed(program, cpus);
        let mut child = command
            .envs(preload.map(|preload| ("LD_PRELOAD", preload)))
            .current_dir(dir)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| RunnerError::Spawn(command.get_program().into(), source))?;
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = child.stderr.take().expect("stderr is piped");
        let (send, lines) = sync_channel(MESSAGES_MAX);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { break };
                let event = match serde_json::from_str(&line) {
                    Ok(message) => WorkerEvent::Message(message),
                    Err(_not_ours) => WorkerEvent::EngineOutput,
                };
                if send.send(event).is_err() {
                    return;
                }
            }
            // The receiver may be gone already.
            drop(send.send(WorkerEvent::End));
        });
        let stderr = thread::spawn(move || keep_tail(BufReader::new(stderr)));
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, lines, stderr: Some(stderr), is_reaped: false })
    }

    /// Returns the worker's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a command; a worker that no longer reads is noticed by its end.
    pub(crate) fn send(&mut self, command: &Command) {
        let Some(stdin) = &mut self.stdin else { return };
        let mut line = serde_json::to_vec(command).expect("a command is always valid JSON");
        line.push(b'\n');
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            self.stdin = None;
        }
    }

    /// Waits for the next event, at most `limit`.
    pub(crate) fn receive(&self, limit: Duration) -> WorkerEvent {
        match self.lines.recv_timeout(limit) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => WorkerEvent::Silence,
            Err(RecvTimeoutError::Disconnected) => WorkerEvent::End,
        }
    }

    /// Kills the worker and all processes it started.
    pub(crate) fn kill(&mut self) {
        if !self.is_reaped {
            let group = Pid::from_child(&self.child);
            // It fails only when all of them have ended.
            kill_process_group(group, Signal::KILL).ok();
        }
    }

    /// Waits for the worker's end; returns its status and the end of its error stream.
    pub(crate) fn ended(&mut self) -> (Option<ExitStatus>, String) {
        self.kill_if_silent();
        let status = self.child.wait().ok();
        self.is_reaped = true;
        let stderr = self.stderr.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        (status, stderr)
    }

    /// Kills a worker that closed its output and does not exit in time.
    fn kill_if_silent(&mut self) {
        // The worker's output has ended; its process follows at once, unless a thread of the
        // engine keeps it alive.
        let clock = SteadyClock::kernel();
        let deadline = clock.now().after(END_GRACE);
        while clock.now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                self.is_reaped = true;
                return;
            }
            clock.rest_until(clock.now().after(END_POLL));
        }
        self.kill();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        drop(self.child.wait());
    }
}

/// Returns the command that runs a program on some CPUs.
fn placed(program: &WorkerProgram, cpus: &[u32]) -> std::process::Command {
    let mut command;
    if cpus.is_empty() {
        command = child::command(Role::Worker, &program.path);
    } else {
        command = child::command(Role::Worker, "taskset");
        command.args(["-c", &listed(cpus)]).arg(&program.path);
    }
    command.args(&program.arguments);
    command
}

/// Returns the last lines of a stream, when it ends.
fn keep_tail(mut stream: impl BufRead) -> String {
    let mut tail = Vec::new();
    let mut line = Vec::new();
    while matches!(stream.read_until(b'\n', &mut line), Ok(bytes) if bytes > 0) {
        tail.append(&mut line);
        if tail.len() > 2 * STDERR_MAX {
            tail.drain(..tail.len() - STDERR_MAX);
        }
    }
    String::from_utf8_lossy(&tail).trim().to_owned()
}

/// Describes how a process failed; `None` after a success.
pub(crate) fn bad_end(status: Option<ExitStatus>, stderr: &str) -> Option<String> {
    let how = match (status, status.and_then(|status| status.signal())) {
        (_, Some(signal)) => format!("signal {signal} ({})", signal_name(signal)),
        (Some(status), None) if status.success() => return None,
        (Some(status), None) => format!("exit code {}", status.code().unwrap_or(-1)),
        (None, None) => "it vanished".to_owned(),
    };
    match stderr.lines().last() {
        Some(last) if !last.is_empty() => Some(format!("{how}; last log line: {last}")),
        _ => Some(how),
    }
}

/// Returns a signal's name without the `SIG` before it.
fn signal_name(signal: i32) -> &'static str {
    let known = nix::sys::signal::Signal::try_from(signal).map(|known| known.as_str());
    known.map_or("no name", |name| name.trim_start_matches("SIG"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how a shell that runs `script` ended.
    fn end_of(script: &str) -> Option<ExitStatus> {
        std::process::Command::new("sh").args(["-c", script]).status().ok()
    }

    #[test]
    fn a_signal_is_named_with_its_number() {
        for (name, expected) in [("SEGV", "signal 11 (SEGV)"), ("ABRT", "signal 6 (ABRT)")] {
            let status = end_of(&format!("ulimit -c 0; kill -{name} $$"));
            assert_eq!(bad_end(status, "").as_deref(), Some(expected));
        }
        assert_eq!(bad_end(end_of("kill -40 $$"), "").as_deref(), Some("signal 40 (no name)"));
    }

    #[test]
    fn an_exit_code_is_reported_with_the_last_output() {
        let stderr = "thread 'client' panicked\nout of luck";
        let end = bad_end(end_of("exit 101"), stderr);
        assert_eq!(end.as_deref(), Some("exit code 101; last log line: out of luck"));
        assert_eq!(bad_end(end_of("exit 0"), stderr), None);
        assert_eq!(bad_end(None, "").as_deref(), Some("it vanished"));
    }

    #[test]
    fn only_the_end_of_a_long_output_is_retained() {
        let stderr: String = (0..100_000).map(|line| format!("line {line}\n")).collect();
        let tail = keep_tail(stderr.as_bytes());
        assert!(tail.len() <= 2 * STDERR_MAX && tail.ends_with("line 99999"));
    }
}
