//! One block on a machine without a shared directory, over the pipes of `ssh` or `srun`.
//!
//! Source: OpenSSH 9.2, ssh(1), ssh_config(5); Slurm 22.05, srun(1).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use archive::ArchiveError;
use child::Role;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::block::{Claim, Claimed, Outcome, Owner};
use crate::directory::Fleet;
use crate::error::FleetError;
use crate::hosts::RemoteHost;
use crate::slurm::EXPORTED;
use crate::stream::{Answer, HELLO, Request, read_message, send_message};

/// Options of every connection: no question, and an end within 10 s of a silent machine.
///
/// `SHLVL` keeps bash from reading `.bashrc`, where the server accepts the variable.
const SSH: [&str; 10] = [
    "-T",
    "-o",
    "BatchMode=yes",
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
/// Longest silence of a machine, in seconds: it sends a sign of life every 10 s.
const SILENCE_MAX_S: u64 = 40;
/// Time that a client has to end when its connection ends.
const PATIENCE: Duration = Duration::from_secs(10);

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
    /// Connection in use, so that another thread can end it.
    pub connection: &'a Mutex<Option<ChildStdin>>,
    /// Set when the connections end.
    pub is_stopped: &'a AtomicBool,
}

/// Output of a client, with a limit on the wait for the next sign of life.
struct TimedOutput<'a> {
    output: ChildStdout,
    is_stopped: &'a AtomicBool,
}

impl Read for TimedOutput<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (mut waited, mut stopped) = (0, 0);
        loop {
            let second = Timespec { tv_sec: 1, tv_nsec: 0 };
            let mut fds = [PollFd::new(&self.output, PollFlags::IN)];
            if poll(&mut fds, Some(&second))? > 0 {
                return self.output.read(buffer);
            }
            waited += 1;
            stopped += u64::from(self.is_stopped.load(Ordering::Relaxed));
            if waited > SILENCE_MAX_S || stopped > PATIENCE.as_secs() {
                let text = format!("it was silent for {waited} s");
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        }
    }
}

impl Transport {
    /// Checks that the client of OpenSSH is here.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn check_ssh() -> Result<(), FleetError> {
        child::find("ssh").map(drop).ok_or(FleetError::Missing("ssh", "OpenSSH"))
    }

    /// Returns the command that runs one line of shell on the machine.
    fn command(&self, line: &str, excluded: &[String]) -> Command {
        match self {
            Self::Ssh { host, config } => {
                let mut command = child::command(Role::Remote, "ssh");
                if let Some(config) = config {
                    command.arg("-F").arg(config);
                }
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
    fn line(&self, sha256: &str, bytes: u64) -> String {
        let [has, lacks] = states(sha256);
        let script = format!(
            "umask 077; dir=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/assay/fleet\"; \
             program=\"$dir/assay-{sha256}\"; echo; \
             whole() {{ [ -x \"$1\" ] && [ \"$(wc -c < \"$1\")\" -eq {bytes} ]; }}; \
             if whole \"$program\"; then echo {has}; else mkdir -p \"$dir\" && \
             part=\"$(mktemp \"$dir/part.XXXXXX\")\" && chmod 700 \"$part\" && echo {lacks} && \
             head -c {bytes} > \"$part\"; whole \"$part\" && mv \"$part\" \"$program\" || \
             {{ rm -f \"$part\"; exit 1; }}; fi; exec \"$program\" block --stream"
        );
        match self {
            Self::Ssh { .. } => format!("exec sh -c '{script}'"),
            Self::Srun { .. } => script,
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
    fn machine(&self) -> String {
        match self {
            Self::Ssh { host, .. } => host.name.clone(),
            Self::Srun { .. } => String::new(),
        }
    }

    /// Runs a block, and stores what it sends; returns how it ended.
    ///
    /// # Errors
    /// When the directory of the blocks cannot be written.
    pub fn run(&self, block: RemoteBlock<'_>) -> Result<Outcome, FleetError> {
        let RemoteBlock { fleet, connection, .. } = block;
        let program = fleet.program();
        let bytes = file_length(&program)?;
        let line = self.line(block.program_sha256, bytes);
        let mut command = self.command(&line, block.excluded);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let log = fleet.path().join(format!("connection-{}.log", block.block));
        let errors = File::create(&log).map_err(FleetError::file(&log))?;
        command.stderr(errors);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                let program = command.get_program().to_string_lossy().into_owned();
                return Err(FleetError::Program { program, message: error.to_string() });
            }
        };
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        *connection.lock().unwrap_or_else(PoisonError::into_inner) = stdin;
        let mut session = Session { transport: self, block, log, claim: None };
        let outcome = match stdout {
            Some(output) => {
                let is_stopped = block.is_stopped;
                session.talk(&mut BufReader::new(TimedOutput { output, is_stopped }))
            }
            None => Err(self.broken("no output")),
        };
        // The end of its input ends the program there.
        drop(connection.lock().unwrap_or_else(PoisonError::into_inner).take());
        end(&mut child);
        session.close(outcome)
    }

    fn broken(&self, reason: impl Into<String>) -> FleetError {
        FleetError::Stream { machine: self.name().to_owned(), reason: reason.into() }
    }
}

/// One connection.
struct Session<'a> {
    transport: &'a Transport,
    block: RemoteBlock<'a>,
    /// Standard error of the connection.
    log: PathBuf,
    /// The right to store runs, once the machine has begun.
    claim: Option<Claim>,
}

impl Session<'_> {
    /// Sends the block, and stores the runs that come back.
    fn talk(&mut self, from: &mut impl BufRead) -> Result<Outcome, FleetError> {
        let RemoteBlock { fleet, block, .. } = self.block;
        let broken = |error: io::Error| self.transport.broken(error.to_string());
        let [has, lacks] = states(self.block.program_sha256);
        if self.greeting(from, &[&has, &lacks])? == lacks {
            self.send_file(&fleet.program())?;
        }
        self.greeting(from, &[HELLO])?;
        let mut order = Box::new(fleet.order()?);
        if let Transport::Ssh { host, .. } = self.transport {
            order.data_dir = host.data_dir.clone().or(order.data_dir);
        }
        let machine = self.transport.machine();
        self.send(&Request::Run { order, block, machine })?;
        loop {
            match read_message(from).map_err(broken)? {
                Some(Answer::NeedsBuilds) => {
                    let bytes = file_length(&fleet.builds())?;
                    self.send(&Request::Builds { bytes })?;
                    self.send_file(&fleet.builds())?;
                }
                Some(Answer::Begins { machine, fingerprint }) => {
                    let owner = Owner {
                        machine,
                        fingerprint,
                        job: None,
                        process: std::process::id(),
                        started_at: (self.block.now)(),
                    };
                    match fleet.claim(block, &owner)? {
                        Claimed::Done => return Ok(Outcome::Complete),
                        Claimed::Owned(owned) => {
                            let log = owned.log_path();
                            if std::fs::rename(&self.log, &log).is_ok() {
                                self.log = log;
                            }
                            self.claim = Some(owned);
                        }
                    }
                }
                Some(Answer::Run { cell, bytes }) => {
                    let Some(claim) = &self.claim else {
                        return Err(self.transport.broken("a run before the block began"));
                    };
                    let mut files = from.take(bytes);
                    let added = claim.add_run(&cell, &mut files);
                    // The connection may break in the middle of the files.
                    if let Err(FleetError::Archive(ArchiveError::Damaged(_, reason))) = added {
                        return Err(self.transport.broken(reason));
                    }
                    added?;
                    // A stream of tar ends before its padding.
                    io::copy(&mut files, &mut io::sink()).map_err(broken)?;
                }
                Some(Answer::Lives) => {}
                Some(Answer::Ends(outcome)) => return Ok(outcome),
                None => return Err(self.transport.broken("it ended before the block did")),
            }
        }
    }

    /// Reads lines up to one of those expected: a shell may print others before.
    fn greeting(&self, from: &mut impl BufRead, expected: &[&str]) -> Result<String, FleetError> {
        for _ in 0..NOISE_LINES_MAX {
            let mut line = Vec::new();
            let read = from.take(NOISE_LINES_MAX as u64 * 100).read_until(b'\n', &mut line);
            let read = read.map_err(|error| self.transport.broken(error.to_string()))?;
            if read == 0 {
                return Err(self.transport.broken("it ended before Assay began there"));
            }
            let line = String::from_utf8_lossy(&line);
            if let Some(found) = expected.iter().find(|known| line.trim_end() == **known) {
                return Ok((*found).to_owned());
            }
        }
        Err(self.transport.broken("its shell prints too much before Assay begins"))
    }

    fn send(&self, request: &Request) -> Result<(), FleetError> {
        self.with_input(|input| send_message(input, request))
    }

    fn send_file(&self, path: &Path) -> Result<(), FleetError> {
        let mut file = File::open(path).map_err(FleetError::file(path))?;
        self.with_input(|input| io::copy(&mut file, input).and_then(|_| input.flush()))
    }

    fn with_input(
        &self,
        write: impl FnOnce(&mut ChildStdin) -> io::Result<()>,
    ) -> Result<(), FleetError> {
        let mut input = self.block.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = || io::Error::other("the connection was ended");
        // Connections may have ended before this one was made.
        let is_stopped = self.block.is_stopped.load(Ordering::Relaxed);
        let input = input.as_mut().filter(|_| !is_stopped);
        let written = input.ok_or_else(closed).and_then(write);
        written.map_err(|error| self.transport.broken(error.to_string()))
    }

    /// Records how the block ended: a broken stream is a failure of the machine.
    fn close(mut self, outcome: Result<Outcome, FleetError>) -> Result<Outcome, FleetError> {
        let outcome = match outcome {
            Err(FleetError::Stream { reason, .. }) => {
                Outcome::Failed { reason: self.explained(reason) }
            }
            outcome => outcome?,
        };
        match (self.claim.take(), &outcome) {
            (Some(claim), Outcome::Complete) => claim.complete()?,
            (Some(claim), outcome) => claim.end(outcome)?,
            (None, _) => {}
        }
        Ok(outcome)
    }

    /// Adds the last line of the connection's standard error to a reason.
    fn explained(&self, reason: String) -> String {
        // After the block has begun, the log has the progress of the program there.
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        match text.trim().lines().last().filter(|_| self.claim.is_none()) {
            Some(line) => format!("{reason} ({line})"),
            None => reason,
        }
    }
}

/// Returns the lines by which the machine reports that it has this program, or lacks it.
///
/// No shell prints such a line by itself.
fn states(sha256: &str) -> [String; 2] {
    STATES.map(|state| format!("{state}-{sha256}"))
}

fn file_length(path: &Path) -> Result<u64, FleetError> {
    std::fs::metadata(path).map(|facts| facts.len()).map_err(FleetError::file(path))
}

/// Ends a client of a connection: its input has ended.
#[expect(clippy::disallowed_methods, reason = "nothing is measured on this host")]
fn end(child: &mut Child) {
    let step = Duration::from_millis(50);
    let mut waited = Duration::ZERO;
    while waited < PATIENCE && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(step);
        waited += step;
    }
    child.kill().ok();
    child.wait().ok();
}
