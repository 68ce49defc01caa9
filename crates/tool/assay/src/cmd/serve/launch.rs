//! Runs that pages start and stop.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

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
    last: Mutex<Option<Launched>>,
}

/// A command that was started.
struct Launched {
    pid: u32,
    output: File,
    /// Waits for the end, and returns it as a phrase.
    waiter: Option<JoinHandle<String>>,
    end: String,
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
        let mut last = self.last();
        let (locks, results) = (HeldLocks::read(), Results::at(&environment.results).newest());
        if let Some(dir) = results.iter().find(|dir| locks.writer(dir).is_some()) {
            return Err(miette!(
                help = "wait for their end, or stop them on their page",
                "runs of {} are in progress: a second experiment would disturb them",
                dir.path().display()
            ));
        }
        if last.as_mut().is_some_and(|launched| !launched.has_ended()) {
            return Err(miette!(
                help = "wait for its end, or stop it on its page",
                "this server started a run that goes on"
            ));
        }
        *last = Some(Launched::of(start, environment).into_report()?);
        Ok(())
    }

    /// Returns the state of the command started last.
    pub(super) fn state(&self, results: &Results) -> Option<State> {
        let mut last = self.last();
        let launched = last.as_mut()?;
        let end = launched.has_ended().then(|| launched.end.clone());
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
        let mut last = self.last();
        // Another process may have the number of a command that has ended.
        if let Some(launched) = last.as_mut()
            && !launched.has_ended()
        {
            return signal(launched.pid, STOP).into_report();
        }
        Err(miette!("no command goes on"))
    }

    /// Stops the command that goes on, and waits for its end: what it measured is stored.
    pub(super) fn close(&self) {
        let Some(mut launched) = self.last().take() else { return };
        launched.has_ended();
        if let Some(waiter) = launched.waiter.take() {
            signal(launched.pid, STOP).ok();
            waiter.join().ok();
        }
    }
}

impl Launched {
    /// Starts the command in a thread that lives as long: the kernel ends a child with its thread.
    fn of(start: Start<'_>, environment: &Environment) -> std::io::Result<Self> {
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
        let (out, err) = (output.try_clone()?, output.try_clone()?);
        let program = std::env::current_exe()?;
        let (sender, started) = mpsc::sync_channel(1);
        let waiter = thread::Builder::new().spawn(move || {
            let mut command = child::command(Role::Assay, program);
            command.args(arguments).stdin(input).stdout(out).stderr(err);
            let mut child = match command.spawn() {
                Ok(child) => child,
                Err(error) => {
                    sender.send(Err(error)).ok();
                    return String::new();
                }
            };
            sender.send(Ok(child.id())).ok();
            child.wait().map_or_else(|error| error.to_string(), |end| end.to_string())
        })?;
        let pid = started.recv().map_err(std::io::Error::other)??;
        Ok(Self { pid, output, waiter: Some(waiter), end: String::new() })
    }

    fn has_ended(&mut self) -> bool {
        if let Some(waiter) = self.waiter.take_if(|waiter| waiter.is_finished()) {
            self.end = waiter.join().unwrap_or_default();
        }
        self.waiter.is_none()
    }

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
