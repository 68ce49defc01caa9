//! The worker as a child process: started, listened to, told, ended.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use load::{Clock, SteadyClock};
use model::Nanos;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::RunnerError;
use crate::message::{Command, Message};
use crate::placement::listed;

/// Messages that may wait unread; a worker that talks faster than it is heard waits.
const MESSAGES_MAX: usize = 64;
/// Bytes kept of what the worker says on its error stream.
const STDERR_MAX: usize = 16 << 10;
/// Time a worker has to end once its output has.
const END_GRACE: Nanos = Nanos::from_secs(5);
/// How often its end is looked for.
const END_POLL: Nanos = Nanos::from_millis(5);

/// Names of the signals that end a process.
const SIGNALS: &[(Signal, &str)] = &[
    (Signal::HUP, "HUP"),
    (Signal::INT, "INT"),
    (Signal::QUIT, "QUIT"),
    (Signal::ILL, "ILL"),
    (Signal::TRAP, "TRAP"),
    (Signal::ABORT, "ABRT"),
    (Signal::BUS, "BUS"),
    (Signal::FPE, "FPE"),
    (Signal::KILL, "KILL"),
    (Signal::SEGV, "SEGV"),
    (Signal::PIPE, "PIPE"),
    (Signal::ALARM, "ALRM"),
    (Signal::TERM, "TERM"),
    (Signal::XCPU, "XCPU"),
    (Signal::XFSZ, "XFSZ"),
    (Signal::SYS, "SYS"),
];

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
    lines: Receiver<Heard>,
    stderr: Option<thread::JoinHandle<String>>,
    /// Its end has been taken note of: its id may be somebody else's by now.
    is_reaped: bool,
}

/// What came from a worker.
pub(crate) enum Heard {
    /// A message.
    Message(Box<Message>),
    /// A line that is no message: the engine itself wrote to stdout.
    Chatter,
    /// Nothing within the time given.
    Silence,
    /// The end of its output.
    End,
}

impl Process {
    /// Starts a worker in a process group of its own, so that Ctrl-C reaches only the parent.
    ///
    /// Its environment is this process's, but for `preload` when that is given; it runs on `cpus`,
    /// or on all when they are none.
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
            .map_err(|source| {
                let program = PathBuf::from(command.get_program());
                RunnerError::Spawn { program, source }
            })?;
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = child.stderr.take().expect("stderr is piped");
        let (send, lines) = sync_channel(MESSAGES_MAX);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { break };
                let heard = match serde_json::from_str(&line) {
                    Ok(message) => Heard::Message(message),
                    Err(_not_ours) => Heard::Chatter,
                };
                if send.send(heard).is_err() {
                    return;
                }
            }
            // The receiver may be gone already; then nobody waits for the end.
            drop(send.send(Heard::End));
        });
        let stderr = thread::spawn(move || keep_tail(BufReader::new(stderr)));
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, lines, stderr: Some(stderr), is_reaped: false })
    }

    /// Returns the worker's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells the worker something; a worker that no longer listens is noticed by its end.
    pub(crate) fn tell(&mut self, command: &Command) {
        let Some(stdin) = &mut self.stdin else { return };
        let mut line = serde_json::to_vec(command).expect("a command is always valid JSON");
        line.push(b'\n');
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            self.stdin = None;
        }
    }

    /// Waits for what comes next, at most `limit`.
    pub(crate) fn hear(&self, limit: Duration) -> Heard {
        match self.lines.recv_timeout(limit) {
            Ok(heard) => heard,
            Err(RecvTimeoutError::Timeout) => Heard::Silence,
            Err(RecvTimeoutError::Disconnected) => Heard::End,
        }
    }

    /// Kills the worker and what it has started, whatever they are doing.
    pub(crate) fn kill(&mut self) {
        if !self.is_reaped {
            let group = Pid::from_child(&self.child);
            // It fails only when all of them have ended, in which case there is nothing to do.
            kill_process_group(group, Signal::KILL).ok();
        }
    }

    /// Waits for the worker's end; returns how it ended and what it last said on its error stream.
    pub(crate) fn ended(&mut self) -> (Option<ExitStatus>, String) {
        self.kill_if_silent();
        let status = self.child.wait().ok();
        self.is_reaped = true;
        let said = self.stderr.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        (status, said)
    }

    /// Kills a worker that has closed its output but has not ended of itself within a moment.
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
    if cpus.is_empty() {
        let mut command = std::process::Command::new(&program.path);
        command.args(&program.arguments);
        return command;
    }
    let mut command = std::process::Command::new("taskset");
    command.args(["-c", &listed(cpus)]).arg(&program.path).args(&program.arguments);
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

/// Returns in words how a process ended badly; `None` when it ended well.
pub(crate) fn bad_end(status: Option<ExitStatus>, said: &str) -> Option<String> {
    let how = match (status, status.and_then(|status| status.signal())) {
        (_, Some(signal)) => format!("signal {signal} ({})", signal_name(signal)),
        (Some(status), None) if status.success() => return None,
        (Some(status), None) => format!("exit code {}", status.code().unwrap_or(-1)),
        (None, None) => "it vanished".to_owned(),
    };
    match said.lines().last() {
        Some(last) if !last.is_empty() => Some(format!("{how}; its last words: {last}")),
        _ => Some(how),
    }
}

/// Returns a signal's name without the `SIG` before it.
fn signal_name(signal: i32) -> &'static str {
    let known = SIGNALS.iter().find(|(known, _)| known.as_raw() == signal);
    known.map_or("no name", |(_, name)| name)
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
        for (name, told) in [("SEGV", "signal 11 (SEGV)"), ("ABRT", "signal 6 (ABRT)")] {
            let status = end_of(&format!("ulimit -c 0; kill -{name} $$"));
            assert_eq!(bad_end(status, "").as_deref(), Some(told));
        }
        assert_eq!(bad_end(end_of("kill -40 $$"), "").as_deref(), Some("signal 40 (no name)"));
    }

    #[test]
    fn an_exit_code_is_told_with_the_last_words() {
        let said = "thread 'client' panicked\nout of luck";
        let end = bad_end(end_of("exit 101"), said);
        assert_eq!(end.as_deref(), Some("exit code 101; its last words: out of luck"));
        assert_eq!(bad_end(end_of("exit 0"), said), None);
        assert_eq!(bad_end(None, "").as_deref(), Some("it vanished"));
    }

    #[test]
    fn only_the_last_of_many_words_is_kept() {
        let said: String = (0..100_000).map(|line| format!("line {line}\n")).collect();
        let kept = keep_tail(said.as_bytes());
        assert!(kept.len() <= 2 * STDERR_MAX && kept.ends_with("line 99999"));
    }
}
