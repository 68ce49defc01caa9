//! A verb of this program on another machine, over the pipes of `ssh` or `srun`.
//!
//! Source: OpenSSH 9.2, ssh(1), ssh_config(5); Slurm 22.05, srun(1).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use child::Role;
use model::Password;
use model::client_host::slurm_class;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::connection::end;
use crate::directory::Fleet;
use crate::error::FleetError;
use crate::hosts::RemoteHost;
use crate::slurm::EXPORTED;
use crate::stream::{Request, send_message};

/// Options of every connection: no question, and an end within 10 s of a silent machine.
///
/// `SHLVL` keeps bash from reading `.bashrc`, where the server accepts the variable.
const SSH: [&str; 12] = [
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ServerAliveInterval=3",
    "-o",
    "ServerAliveCountMax=3",
    "-o",
    "SetEnv=SHLVL=2",
    "--",
];
/// Largest number of lines that a shell may print before the program starts.
const NOISE_LINES_MAX: usize = 1_000;
/// Starts of the lines that report whether the machine has this program.
const STATES: [&str; 2] = ["assay-has", "assay-lacks"];
/// Longest silence of a machine, in seconds: it sends a sign of life every 4 s.
pub(crate) const SILENCE_MAX_S: u64 = 15;
/// Longest line with the number of a process.
const PID_BYTES_MAX: u64 = 32;
/// How a machine is reached.
#[derive(Debug, Clone)]
pub enum Transport {
    /// By the OpenSSH client, with a configuration file if one is named.
    Ssh {
        /// The machine.
        host: RemoteHost,
        /// File of the client's configuration.
        config: Option<PathBuf>,
    },
    /// By Slurm, which chooses the machine.
    Srun {
        /// Class of the machine.
        constraint: Option<String>,
    },
}

/// A block to run on a machine.
#[derive(Debug, Clone, Copy)]
pub struct RemoteBlock<'a> {
    /// The directory of the blocks, on this host.
    pub fleet: &'a Fleet,
    /// The block, from 1.
    pub block: u32,
    /// SHA-256 of the program.
    pub program_sha256: &'a str,
    /// Machines that Slurm is not to choose.
    pub excluded: &'a [String],
    /// The current time, UTC, RFC 3339.
    pub now: fn() -> String,
    /// Passwords of running servers, by variant: only the machine of the server gets them.
    pub passwords: &'a BTreeMap<String, Password>,
    /// Connection in use, so that another thread can end it.
    pub connection: &'a Mutex<Option<ChildStdin>>,
    /// Set when the connections end.
    pub is_stopped: &'a AtomicBool,
}

impl RemoteBlock<'_> {
    /// Sends a message to the machine. Several threads may send.
    pub(crate) fn send(&self, request: &Request) -> io::Result<()> {
        self.with_input(|input| send_message(input, request))
    }

    /// Sends a file to the machine.
    pub(crate) fn send_file(&self, path: &Path) -> io::Result<()> {
        self.with_input(|input| copy_file(path, input))
    }

    /// Ends the input of the machine, and with it the program there.
    pub(crate) fn end_input(&self) {
        drop(self.connection.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn with_input(&self, write: impl FnOnce(&mut ChildStdin) -> io::Result<()>) -> io::Result<()> {
        let mut input = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        // Connections may have ended before this one was made.
        let is_stopped = self.is_stopped.load(Ordering::Relaxed);
        let input = input.as_mut().filter(|_| !is_stopped);
        input.ok_or_else(|| io::Error::other("the connection was ended")).and_then(write)
    }
}

/// Input with a limit on the wait for more of it.
#[derive(Debug)]
pub struct TimedReader<'a, R> {
    /// The input.
    pub input: R,
    /// Set when the input is to end within seconds.
    pub is_stopped: &'a AtomicBool,
    /// Longest silence in seconds, if there is a limit.
    pub silence_max_s: Option<u64>,
    /// Longest silence in seconds once it is to end.
    pub patience_s: u64,
}

impl<R: Read + AsFd> Read for TimedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (mut waited, mut stopped) = (0, 0);
        loop {
            let second = Timespec { tv_sec: 1, tv_nsec: 0 };
            let mut fds = [PollFd::new(&self.input, PollFlags::IN)];
            if poll(&mut fds, Some(&second))? > 0 {
                return self.input.read(buffer);
            }
            waited += 1;
            stopped += u64::from(self.is_stopped.load(Ordering::Relaxed));
            let is_silent = self.silence_max_s.is_some_and(|most| waited > most);
            if is_silent || stopped > self.patience_s {
                let text = format!("it was silent for {waited} s");
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        }
    }
}

impl Transport {
    /// Returns how a host of an experiment is reached.
    pub fn of(host: &str, config: Option<&str>) -> Self {
        match slurm_class(host) {
            Some(class) => Self::Srun { constraint: Some(class.to_owned()) },
            None => Self::Ssh { host: RemoteHost::at(host), config: config.map(PathBuf::from) },
        }
    }

    /// Checks that the client of OpenSSH is here.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn check_ssh() -> Result<(), FleetError> {
        child::find("ssh").map(drop).ok_or(FleetError::Missing("ssh", "OpenSSH"))
    }

    /// Returns the command that runs one line of shell on the machine.
    pub(crate) fn command(&self, line: &str, excluded: &[String]) -> Command {
        match self {
            Self::Ssh { host, config } => {
                let mut command = ssh(config.as_deref());
                command.args(SSH).arg(&host.ssh).arg(line);
                command
            }
            Self::Srun { constraint } => {
                let mut command = child::command(Role::Remote, "srun");
                command.args(["--nodes=1", "--ntasks=1", "--exclusive", "--cpu-bind=none"]);
                command.args(["--quiet", "--export", EXPORTED]);
                if let Some(constraint) = constraint {
                    command.arg("--constraint").arg(constraint);
                }
                if !excluded.is_empty() {
                    command.arg("--exclude").arg(excluded.join(","));
                }
                command.args(["sh", "-c", line]);
                command
            }
        }
    }

    /// Returns the command line for a shell on the machine.
    ///
    /// It has no text of the user: OpenSSH passes it to the login shell there.
    fn line(&self, sha256: &str, bytes: u64, args: &str) -> String {
        let [has, lacks] = states(sha256);
        let script = format!(
            "umask 077; dir=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/assay/fleet\"; \
             program=\"$dir/assay-{sha256}\"; echo; \
             whole() {{ [ -x \"$1\" ] && [ \"$(wc -c < \"$1\")\" -eq {bytes} ] && \
             {{ ! command -v sha256sum > /dev/null || \
             [ \"$(sha256sum < \"$1\")\" = \"{sha256}  -\" ]; }}; }}; \
             if whole \"$program\"; then echo {has}; else mkdir -p \"$dir\" && \
             part=\"$(mktemp \"$dir/part.XXXXXX\")\" && chmod 700 \"$part\" && echo {lacks} && \
             head -c {bytes} > \"$part\"; whole \"$part\" && mv \"$part\" \"$program\" || \
             {{ rm -f \"$part\"; exit 1; }}; fi; \"$program\" {args}; exit $?"
        );
        // The shell stays: its exit code names the signal that ended the program.
        self.shell(&script)
    }

    /// Returns the command line that runs a script without single quotes in a POSIX shell.
    fn shell(&self, script: &str) -> String {
        match self {
            Self::Ssh { .. } => format!("exec sh -c '{script}'"),
            Self::Srun { .. } => script.to_owned(),
        }
    }

    /// Kills a block or a worker that did not end with its connection, as one that is stopped.
    ///
    /// A machine of Slurm ends it with the step.
    pub(crate) fn kill_there(&self, pid: u32) {
        let Self::Ssh { .. } = self else { return };
        let script = format!("grep -q stream /proc/{pid}/cmdline && kill -KILL {pid}");
        let mut command = self.command(&self.shell(&script), &[]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // A machine that cannot be reached ends it by itself.
        if let Ok(mut child) = command.spawn() {
            end(&mut child).ok();
        }
    }

    /// Returns the name of the machine, as far as it is known before the block runs.
    pub fn name(&self) -> &str {
        match self {
            Self::Ssh { host, .. } => &host.name,
            Self::Srun { .. } => "a machine of Slurm",
        }
    }

    /// Returns the name that the machine gets; empty if the scheduler gives it one.
    pub(crate) fn machine(&self) -> String {
        match self {
            Self::Ssh { host, .. } => host.name.clone(),
            Self::Srun { .. } => String::new(),
        }
    }

    /// Returns the name or address of the machine that ssh connects to.
    ///
    /// # Errors
    /// When ssh does not accept its configuration, with its message.
    pub fn address(destination: &str, config: Option<&Path>) -> Result<String, FleetError> {
        let mut command = ssh(config);
        let output = command.args(["-G", "--", destination]).output();
        let output = output.map_err(|error| not_started(&command, &error))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let name = text.lines().find_map(|line| line.strip_prefix("hostname "));
        name.map(str::to_owned).ok_or_else(|| FleetError::Program {
            program: format!("ssh -G {destination}"),
            message: explained("it printed no host name", &String::from_utf8_lossy(&output.stderr)),
        })
    }

    /// Starts the client of a connection, which runs this program with arguments on the machine.
    ///
    /// The client ends with the thread that calls this.
    pub(crate) fn spawn(
        &self,
        block: RemoteBlock<'_>,
        args: &str,
        errors: File,
    ) -> Result<Child, FleetError> {
        let bytes = file_length(&block.fleet.program())?;
        let line = self.line(block.program_sha256, bytes, args);
        let mut command = self.command(&line, block.excluded);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        command.spawn().map_err(|error| not_started(&command, &error))
    }

    /// Reads the output up to the first line of the program, which is sent if it is absent; returns
    /// the number of its process, which the next line has.
    pub(crate) fn enter(
        &self,
        block: RemoteBlock<'_>,
        hello: &str,
        from: &mut impl BufRead,
        send_file: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<Option<u32>, FleetError> {
        let [has, lacks] = states(block.program_sha256);
        if self.greeting(from, &[&has, &lacks])? == lacks {
            send_file(&block.fleet.program()).map_err(|error| self.broken(error.to_string()))?;
        }
        self.greeting(from, &[hello])?;
        let mut line = String::new();
        let read = from.take(PID_BYTES_MAX).read_line(&mut line);
        read.map_err(|error| self.broken(error.to_string()))?;
        Ok(line.trim().parse().ok())
    }

    /// Reads lines up to one of those expected: a shell may print others before.
    fn greeting(&self, from: &mut impl BufRead, expected: &[&str]) -> Result<String, FleetError> {
        for _ in 0..NOISE_LINES_MAX {
            let mut line = Vec::new();
            let read = from.take(NOISE_LINES_MAX as u64 * 100).read_until(b'\n', &mut line);
            let read = read.map_err(|error| self.broken(error.to_string()))?;
            if read == 0 {
                return Err(self.broken("it ended before Assay began there"));
            }
            let line = String::from_utf8_lossy(&line);
            if let Some(found) = expected.iter().find(|known| line.trim_end() == **known) {
                return Ok((*found).to_owned());
            }
        }
        Err(self.broken("its shell prints too much before Assay begins"))
    }

    /// Returns the longest silence up to the greeting: a job of Slurm may wait for a machine.
    pub(crate) const fn greeting_max_s(&self) -> Option<u64> {
        match self {
            Self::Ssh { .. } => Some(SILENCE_MAX_S),
            Self::Srun { .. } => None,
        }
    }

    pub(crate) fn broken(&self, reason: impl Into<String>) -> FleetError {
        FleetError::Stream { machine: self.name().to_owned(), reason: reason.into() }
    }
}

/// Returns the client of OpenSSH with its configuration.
fn ssh(config: Option<&Path>) -> Command {
    let mut command = child::command(Role::Remote, "ssh");
    if let Some(config) = config {
        command.arg("-F").arg(config);
    }
    command
}

fn not_started(command: &Command, error: &io::Error) -> FleetError {
    let program = command.get_program().to_string_lossy().into_owned();
    FleetError::Program { program, message: error.to_string() }
}

/// Adds the last line of a standard error to a reason.
pub(crate) fn explained(reason: &str, errors: &str) -> String {
    match errors.trim().lines().last() {
        Some(line) => format!("{reason} ({line})"),
        None => reason.to_owned(),
    }
}

/// Writes a file to a program's input.
pub(crate) fn copy_file(path: &Path, to: &mut ChildStdin) -> io::Result<()> {
    io::copy(&mut File::open(path)?, to).and_then(|_| to.flush())
}

/// Returns the lines by which the machine reports that it has this program, or lacks it.
///
/// No shell prints such a line by itself.
fn states(sha256: &str) -> [String; 2] {
    STATES.map(|state| format!("{state}-{sha256}"))
}

pub(crate) fn file_length(path: &Path) -> Result<u64, FleetError> {
    std::fs::metadata(path).map(|facts| facts.len()).map_err(FleetError::file(path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    /// Goal: a machine takes the program once, and again if its copy is damaged. Method: the line
    /// for the shell is run here, with a script as the program.
    #[test]
    fn a_damaged_program_is_sent_again() {
        let dir = tempfile::tempdir().unwrap();
        let (program, cache) = (dir.path().join("program"), dir.path().join("cache"));
        let text = "#!/bin/sh\necho \"ran $1\"\n";
        std::fs::write(&program, text).unwrap();
        let sha256 = crate::sha256_of(&program).unwrap();
        let line = Transport::Srun { constraint: None }.line(&sha256, text.len() as u64, "it");
        let run = || {
            let mut shell = Command::new("sh");
            shell.args(["-c", &line]).env("XDG_CACHE_HOME", &cache);
            let input = File::open(&program).unwrap();
            let output = shell.stdin(input).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let [has, lacks] = states(&sha256);
        let sent = format!("\n{lacks}\nran it\n");
        assert_eq!([run(), run()], [sent.clone(), format!("\n{has}\nran it\n")]);
        let copy = cache.join("assay/fleet").join(format!("assay-{sha256}"));
        std::fs::write(&copy, text.replace("ran", "RAN")).unwrap();
        assert_eq!(run(), sent);
    }

    #[test]
    fn silence_ends_an_input() {
        let (mut ours, input) = UnixStream::pair().unwrap();
        let is_stopped = AtomicBool::new(false);
        let mut reader =
            TimedReader { input, is_stopped: &is_stopped, silence_max_s: Some(0), patience_s: 0 };
        ours.write_all(b"x").unwrap();
        assert_eq!(reader.read(&mut [0; 2]).unwrap(), 1);
        let error = reader.read(&mut [0; 2]).unwrap_err();
        assert_eq!(error.to_string(), "it was silent for 1 s");
        drop(ours);
        assert_eq!(reader.read(&mut [0; 2]).unwrap(), 0);
    }
}
