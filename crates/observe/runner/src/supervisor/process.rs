//! The worker's child process: start, messages, end.

use std::ffi::OsString;
use std::io::{self, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use child::{Confinement, Role};
use load::{Clock, SteadyClock};
use model::Nanos;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};
use sampler::{tightest_thread_limit, with_thread_limit};

use super::descendants::Descendants;
use super::output::OutputTail;
use crate::connection::{ConnectionError, MessageReader, MessageWriter};
use crate::error::RunnerError;
use crate::message::{Command, Message};

/// Messages that may wait unread; a worker that sends faster waits.
const MESSAGES_MAX: usize = 64;
/// Longest wait for a worker to read a command: it reads at once, unless it is stopped.
const SEND_MAX: Duration = Duration::from_secs(10);
/// Time a worker has to end once its messages have, or once it is killed.
const END_GRACE: Nanos = Nanos::from_secs(5);
/// Interval at which its end is polled.
const END_POLL: Nanos = Nanos::from_millis(5);

/// Threads left, once a worker has died, at which their want is a likely cause.
///
/// Our choice: RocksDB opens its files with up to 16.
const THREADS_SCARCE: u64 = 32;

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
    /// This side of the connection, to hang up.
    socket: UnixStream,
    commands: MessageWriter<UnixStream>,
    events: Receiver<WorkerEvent>,
    stdout: OutputTail,
    stderr: OutputTail,
    killed_at: Option<Nanos>,
    /// What a confined library starts; ended after the worker.
    descendants: Option<Descendants>,
    /// It was waited for: its id may belong to another process by now.
    is_reaped: bool,
}

/// An event from a worker.
pub(crate) enum WorkerEvent {
    /// A message.
    Message(Box<Message>),
    /// Its next message is missing or damaged; no further one is read.
    Broken(ConnectionError),
    /// No message within the timeout.
    Silence,
    /// The end of its messages; `is_torn` when the last one breaks off.
    End { is_torn: bool },
}

/// How a worker ended.
pub(crate) struct Ended {
    /// `None` when it does not end.
    pub(crate) status: Option<ExitStatus>,
    /// The end of its standard output.
    pub(crate) stdout: String,
    /// The end of its standard error.
    pub(crate) stderr: String,
    /// It was killed, as it did not end after its messages had.
    is_overdue: bool,
}

impl Ended {
    /// Returns the end of workers on other hosts: a host that is lost has an event.
    pub(crate) fn elsewhere() -> Self {
        let (stdout, stderr) = (String::new(), String::new());
        Self { status: Some(ExitStatus::default()), stdout, stderr, is_overdue: false }
    }

    /// Describes how it failed; `None` after a success.
    pub(crate) fn failure(&self) -> Option<String> {
        if self.is_overdue {
            return Some(format!("it did not exit within {END_GRACE} of its last message"));
        }
        let reason = bad_end(self.status, &self.stderr)?;
        match tightest_thread_limit().filter(|limit| limit.free() < THREADS_SCARCE) {
            Some(limit) => {
                Some(format!("{reason}; an engine dies if it cannot create threads: {limit}"))
            }
            None => Some(reason),
        }
    }
}

impl Process {
    /// Starts a worker.
    ///
    /// Its environment has no passwords, and `preload` when given; the command `prefix` places it.
    /// The connection is its standard input, see [`crate::connect`].
    pub(crate) fn start(
        program: &WorkerProgram,
        dir: &Path,
        preload: Option<&str>,
        prefix: &[OsString],
        confinement: Option<&Confinement>,
    ) -> Result<Self, RunnerError> {
        let mut command = placed(program, prefix, confinement);
        command
            .envs(preload.map(|preload| ("LD_PRELOAD", preload)))
            .current_dir(dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let started = UnixStream::pair().and_then(|(socket, theirs)| {
            socket.set_write_timeout(Some(SEND_MAX))?;
            let (commands, messages) = (socket.try_clone()?, socket.try_clone()?);
            let is_library = confinement.is_some_and(Confinement::is_of_library);
            let descendants = is_library.then(Descendants::adopt).transpose()?;
            let child = command.stdin(OwnedFd::from(theirs)).spawn()?;
            child::kill_first(child.id());
            let mut process = Self::attach(child, socket, MessageWriter::new(commands), messages)?;
            process.descendants = descendants;
            Ok(process)
        });
        let program = || command.get_program().into();
        started.map_err(|source| RunnerError::Spawn(program(), with_thread_limit(source)))
    }

    /// Starts the threads that read a worker; without them it is killed.
    fn attach(
        mut child: Child,
        socket: UnixStream,
        commands: MessageWriter<UnixStream>,
        messages: UnixStream,
    ) -> io::Result<Self> {
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let (send, events) = sync_channel(MESSAGES_MAX);
        let tails = OutputTail::of(out.expect("stdout is piped"))
            .and_then(|out| Ok((out, OutputTail::of(err.expect("stderr is piped"))?)))
            .and_then(|tails| {
                thread::Builder::new().spawn(move || read_messages(messages, &send))?;
                Ok(tails)
            });
        match tails {
            Ok((stdout, stderr)) => Ok(Self {
                child,
                socket,
                commands,
                events,
                stdout,
                stderr,
                killed_at: None,
                descendants: None,
                is_reaped: false,
            }),
            Err(error) => {
                child.kill()?;
                child.wait()?;
                Err(error)
            }
        }
    }

    /// Returns the worker's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a command; a worker that no longer reads is noticed by the end of its messages.
    pub(crate) fn send(&mut self, command: &Command) {
        if self.commands.send(command).is_err() {
            self.hang_up();
        }
    }

    /// Waits for the next event, at most `limit`.
    pub(crate) fn receive(&self, limit: Duration) -> WorkerEvent {
        match self.events.recv_timeout(limit) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => {
                let has_waited = |at: Nanos| SteadyClock::kernel().now().since(at) > END_GRACE;
                if self.has_exited() || self.killed_at.is_some_and(has_waited) {
                    // A process that it started holds the connection, or it does not die.
                    self.hang_up();
                }
                WorkerEvent::Silence
            }
            Err(RecvTimeoutError::Disconnected) => WorkerEvent::End { is_torn: false },
        }
    }

    /// Ends the connection; messages that have arrived are still read.
    fn hang_up(&self) {
        // It fails only when the connection has ended.
        self.socket.shutdown(std::net::Shutdown::Both).ok();
    }

    /// Kills the worker and all processes of its group.
    pub(crate) fn kill(&mut self) {
        if !self.is_reaped {
            let group = Pid::from_child(&self.child);
            // It fails only when all of them have ended.
            kill_process_group(group, Signal::KILL).ok();
            // A library can leave its group. It is not waited for yet, so its id is still its own.
            kill_process(group, Signal::KILL).ok();
            self.killed_at.get_or_insert(SteadyClock::kernel().now());
        }
    }

    /// Waits for the worker's end, then kills what is left of its group, and of a confined library
    /// what left the group.
    ///
    /// A worker that does not end in time is killed.
    pub(crate) fn ended(&mut self) -> Ended {
        // The process follows its messages at once, unless a thread of the engine keeps it alive.
        let is_overdue = !self.exits_in_time();
        // It is not waited for yet, so its group is still its own.
        self.kill();
        let status = self.reap();
        self.descendants = None;
        let (stdout, stderr) = (self.stdout.text(), self.stderr.text());
        Ended { status, stdout, stderr, is_overdue }
    }

    /// Returns the status of a process that exits in time.
    fn reap(&mut self) -> Option<ExitStatus> {
        self.is_reaped = self.exits_in_time();
        if self.is_reaped { self.child.wait().ok() } else { None }
    }

    /// Returns whether the process has exited; it is not waited for.
    fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let id = WaitId::Pid(Pid::from_child(&self.child));
        !matches!(waitid(id, options), Ok(None))
    }

    fn exits_in_time(&self) -> bool {
        let clock = SteadyClock::kernel();
        let deadline = clock.now().after(END_GRACE);
        while !self.has_exited() {
            if clock.now() >= deadline {
                return false;
            }
            clock.rest_until(clock.now().after(END_POLL));
        }
        true
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.hang_up();
        if !self.is_reaped {
            self.kill();
            self.reap();
        }
    }
}

/// Reads a worker's messages until they end.
fn read_messages(socket: UnixStream, events: &SyncSender<WorkerEvent>) {
    let mut reader = MessageReader::new(BufReader::new(socket));
    loop {
        let event = match reader.receive() {
            Ok(Some(message)) => WorkerEvent::Message(message),
            Ok(None) => WorkerEvent::End { is_torn: false },
            Err(ConnectionError::BreaksOff(_)) => WorkerEvent::End { is_torn: true },
            Err(error) => WorkerEvent::Broken(error),
        };
        let is_last = !matches!(event, WorkerEvent::Message(_));
        // The receiver may be gone already.
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

/// Returns the command that runs a program after a prefix, confined to some files.
fn placed(
    program: &WorkerProgram,
    prefix: &[OsString],
    confinement: Option<&Confinement>,
) -> std::process::Command {
    let mut args = confinement.map(Confinement::args).unwrap_or_default();
    args.extend(prefix.iter().cloned());
    args.push(program.path.clone().into_os_string());
    let mut command = child::command(Role::Worker, &args[0]);
    command.args(&args[1..]).args(&program.arguments);
    command
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

    /// Goal: no library keeps its worker alive by a process group of its own choice.
    /// Method: a worker that joins the group of this process.
    #[test]
    fn a_worker_that_left_its_process_group_is_ended() {
        let perl = PathBuf::from("/usr/bin/perl");
        if !perl.exists() {
            println!("skipped: perl is not installed");
            return;
        }
        let leaves = "setpgrp(0, getpgrp(getppid())) or die; <STDIN>; sleep 60";
        let arguments = vec!["-e".to_owned(), leaves.to_owned()];
        let program = WorkerProgram { path: perl, arguments };
        let mut worker = Process::start(&program, Path::new("/"), None, &[], None).unwrap();
        let pid = worker.pid();
        let group = || {
            let stat = child::process_file(pid, "stat").unwrap_or_default();
            let fields = stat.rsplit_once(')').map(|(_, rest)| rest.to_owned()).unwrap_or_default();
            fields.split_ascii_whitespace().nth(2).and_then(|it| it.parse::<u32>().ok())
        };
        // It takes some milliseconds.
        let mut polls = 0..100_000;
        assert!(polls.any(|_| group() != Some(pid)), "perl starts");
        worker.kill();
        let status = worker.child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "{status}");
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
}
