//! Runs that pages start and stop.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use archive::{ExperimentDir, HeldLocks, Results};
use child::Role;
use miette::{Result, miette};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::signals::LAST_RUN;

/// Signal that stops a run. A shell lets programs in the background ignore SIGINT.
const STOP: Signal = Signal::SIGTERM;
/// Most bytes of output that a page shows: its end.
const OUTPUT_MAX: u64 = 32 << 10;
/// Longest wait for the end of a command that has stored its last run: it prints the comparison.
const PRINTS_MAX: Duration = Duration::from_secs(10);

/// What a page starts.
pub(super) enum Start<'a> {
    /// An experiment file of this text.
    New(&'a str),
    /// The incomplete runs of an experiment.
    Rest(&'a Path),
}

/// When a run stops.
#[derive(Clone, Copy)]
pub(super) enum Stop {
    AfterRun,
    Now,
}

/// The command that this server started last: one at a time, because each would disturb the others.
#[derive(Default)]
pub(super) struct Launcher {
    last: Arc<Mutex<Option<Launched>>>,
    /// Notified when the command has ended.
    ended: Arc<Condvar>,
}

/// A command that was started.
struct Launched {
    pid: u32,
    output: File,
    /// How it ended, as a phrase; `None` while it goes on.
    end: Option<String>,
}

/// What is known of the command started last.
pub(super) struct State {
    pub(super) output: String,
    /// How it ended; `None` while it goes on.
    pub(super) end: Option<String>,
    /// The experiment that it is writing runs of.
    pub(super) writes: Option<ExperimentDir>,
}

impl Launcher {
    fn last(&self) -> MutexGuard<'_, Option<Launched>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts `assay run`.
    ///
    /// # Errors
    /// When the command started before goes on, or this one does not start.
    pub(super) fn start(&self, start: Start<'_>, environment: &Environment) -> Result<()> {
        let (locks, results) = (HeldLocks::read(), Results::at(&environment.results).newest());
        if let Some(dir) = results.iter().find(|dir| locks.writer(dir).is_some()) {
            return Err(miette!(
                help = "wait for their end, or stop them on their page",
                "runs of {} are in progress: a second experiment would disturb them",
                dir.path().display()
            ));
        }
        let waited = self.ended.wait_timeout_while(self.last(), PRINTS_MAX, goes_on);
        let (mut last, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(miette!(
                help = "wait for its end, or stop it on its page",
                "this server started a run that goes on"
            ));
        }
        *last = Some(self.launch(start, environment).into_report()?);
        Ok(())
    }

    /// Starts the command in a thread that lives as long: the kernel ends a child with its thread.
    ///
    /// The caller holds the lock of the last command, so that the end is noted after the start.
    fn launch(&self, start: Start<'_>, environment: &Environment) -> std::io::Result<Launched> {
        let mut arguments: Vec<OsString> = vec!["run".into()];
        let input = match start {
            Start::New(text) => {
                // The file has no name that others could read: its text may have a password.
                let mut file = tempfile::tempfile()?;
                file.write_all(text.as_bytes())?;
                arguments.push("/dev/stdin".into());
                Stdio::from(file)
            }
            Start::Rest(dir) => {
                arguments.extend(["--resume".into(), dir.into()]);
                Stdio::null()
            }
        };
        let data = Some(&environment.data_dir).filter(|_| environment.is_data_dir_named);
        let results = Some(&environment.results);
        let dirs = [
            ("--results", results),
            ("--data-dir", data),
            ("--cache-dir", environment.cache_dir.as_ref()),
        ];
        let named = |(option, dir): (&str, Option<&PathBuf>)| Some([option.into(), dir?.into()]);
        arguments.extend(dirs.into_iter().filter_map(named).flatten());
        let output = tempfile::tempfile()?;
        let mut command = child::command(Role::Assay, std::env::current_exe()?);
        command.args(arguments).stdin(input);
        command.stdout(output.try_clone()?).stderr(output.try_clone()?);
        let (sender, started) = mpsc::sync_channel(1);
        let (last, ended) = (Arc::clone(&self.last), Arc::clone(&self.ended));
        thread::Builder::new().spawn(move || {
            let mut child = match command.spawn() {
                Ok(child) => child,
                Err(error) => return sender.send(Err(error)).unwrap_or_default(),
            };
            sender.send(Ok(child.id())).ok();
            let end = child.wait().map_or_else(|error| error.to_string(), |end| end.to_string());
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(launched) = last.as_mut() {
                launched.end = Some(end);
            }
            ended.notify_all();
        })?;
        let pid = started.recv().map_err(std::io::Error::other)??;
        Ok(Launched { pid, output, end: None })
    }

    /// Returns the state of the command started last.
    pub(super) fn state(&self, results: &Results) -> Option<State> {
        let last = self.last();
        let launched = last.as_ref()?;
        let end = launched.end.clone();
        let (locks, pid) = (HeldLocks::read(), Some(launched.pid));
        let is_written = |dir: &ExperimentDir| end.is_none() && locks.writer(dir) == pid;
        Some(State {
            output: launched.output_end(),
            writes: results.newest().into_iter().find(is_written),
            end,
        })
    }

    /// Requests a stop from the command that goes on.
    pub(super) fn stop(&self) -> Result<()> {
        // Another process may have the number of a command that has ended.
        match self.last().as_ref().filter(|launched| launched.end.is_none()) {
            Some(launched) => signal(launched.pid, STOP).into_report(),
            None => Err(miette!("no command goes on")),
        }
    }

    /// Stops the command that goes on, and waits for its end: what it measured is stored.
    pub(super) fn close(&self) {
        self.stop().ok();
        drop(self.ended.wait_while(self.last(), goes_on));
    }
}

/// Returns whether the command started last has not ended.
fn goes_on(last: &mut Option<Launched>) -> bool {
    last.as_ref().is_some_and(|launched| launched.end.is_none())
}

impl Launched {
    /// Returns the end of what it has printed.
    fn output_end(&self) -> String {
        let length = self.output.metadata().map_or(0, |it| it.len());
        let from = length.saturating_sub(OUTPUT_MAX);
        let mut bytes = vec![0; usize::try_from(length - from).unwrap_or_default()];
        self.output.read_exact_at(&mut bytes, from).ok();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Requests a stop from the process that writes runs of an experiment.
///
/// # Errors
/// When no process of this host writes runs of it, or it belongs to another account.
pub(super) fn stop(dir: &ExperimentDir, when: Stop) -> Result<()> {
    let Some(pid) = HeldLocks::read().writer(dir) else {
        return Err(miette!("no process of this host is writing runs of this experiment"));
    };
    let requested = match when {
        Stop::AfterRun => signal(pid, LAST_RUN),
        Stop::Now => signal(pid, STOP),
    };
    requested.map_err(|error| miette!("process {pid} cannot be stopped: {error}"))
}

fn signal(pid: u32, signal: Signal) -> nix::Result<()> {
    kill(Pid::from_raw(pid.cast_signed()), signal)
}
