//! Means to run experiments, and their limits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fleet::RunLimits;
use miette::{Result, miette};
use model::units::{parse_limit, parse_size};
use model::{Bytes, DriveHealth, Experiment, Host, Identity, Nanos, ShellCommand};
use plan::DISK_FLOOR_BYTES;
use runner::{DataRoot, Interrupt, Progress, RunnerError, Workbench, WorkerProgram};

use super::storage::{Request, Storage};
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::phase;
use crate::signals::{self, DETACHES, Deferred, ENDS_RUN};
use crate::ui::Ui;

/// Default time without a finished operation.
const WATCHDOG: Nanos = Nanos::from_secs(120);
/// Heading of the options of `run` only.
pub(super) const HEADING: &str = "Run control";

/// Limits of runs.
#[derive(Debug, clap::Args)]
pub(super) struct Limits {
    /// Longest time without a finished operation before an engine counts as hung
    #[arg(long, default_value = "120s", value_name = "SPAN", value_parser = parse_limit, help_heading = HEADING)]
    watchdog: Nanos,
    /// Disk space that must stay free
    #[arg(long, default_value = "2GiB", value_name = "SIZE", value_parser = parse_size, help_heading = HEADING)]
    pub(super) disk_floor: Bytes,
    /// Largest space for saved databases [default: half of the free space]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = HEADING)]
    snapshot_limit: Option<Bytes>,
}

impl Limits {
    /// Returns the limits of a block.
    pub(super) const fn of(limits: RunLimits) -> Self {
        let RunLimits { watchdog, disk_floor, snapshot_limit } = limits;
        Self { watchdog, disk_floor, snapshot_limit }
    }

    /// Returns the limits for the blocks of an experiment.
    pub(super) const fn of_blocks(&self) -> RunLimits {
        let Self { watchdog, disk_floor, snapshot_limit } = *self;
        RunLimits { watchdog, disk_floor, snapshot_limit }
    }

    /// Returns a command that runs the same experiment, with the limits that the user gave.
    pub(super) fn carried(&self, command: ShellCommand) -> ShellCommand {
        let given = self.given();
        given.iter().fold(command, |command, (option, value)| command.option(option, value))
    }

    /// Adds the limits that the user gave to a proposed command, if the command runs an experiment.
    pub(super) fn added_to(&self, proposed: String) -> String {
        if !proposed.starts_with("assay run ") {
            return proposed;
        }
        let given = self.given();
        given.iter().fold(proposed, |text, (option, value)| format!("{text} {option} {value}"))
    }

    /// Returns the limits that are not the default ones, each as option and value.
    fn given(&self) -> Vec<(&'static str, String)> {
        let watchdog = (self.watchdog != WATCHDOG).then(|| self.watchdog.as_secs_f64());
        let floor = Some(self.disk_floor).filter(|floor| *floor != DISK_FLOOR_BYTES);
        let given = [
            ("--watchdog", watchdog.map(|seconds| format!("{seconds}s"))),
            ("--disk-floor", floor.map(|bytes| bytes.0.to_string())),
            ("--snapshot-limit", self.snapshot_limit.map(|bytes| bytes.0.to_string())),
        ];
        given.into_iter().filter_map(|(option, value)| Some((option, value?))).collect()
    }
}

/// Checks that the disk floor is free on a place's file system, before anything else is done.
pub(super) fn check_floor(place: &Path, floor: Bytes) -> Result<()> {
    let help = "free disk space, choose a directory on a larger file system (--data-dir, or \
                --path of assay device), or lower the disk floor, such as --disk-floor 512MiB";
    runner::check_room(place, floor).map_err(|error| {
        let is_floor = matches!(error, RunnerError::DiskFloor(..));
        if is_floor { miette!(help = help, "{error}") } else { miette!("{error}") }
    })
}

/// Takes the data directory; shows whom it waits for.
pub(super) fn take_data(environment: &Environment, ui: &Ui) -> Result<DataRoot> {
    let path = &environment.data_dir;
    let mut show = |holder: &str| {
        let path = path.display();
        ui.status(format_args!("waits     for {holder}, which holds the data directory {path}"));
    };
    DataRoot::take(path, &mut show).into_report()
}

/// Means to run an experiment: on engines, or on storage.
pub(super) struct Bench<'a> {
    pub(super) engines: Workbench<'a>,
    pub(super) storage: Option<Storage>,
    /// Lets Ctrl-C stop what is checked and run; absent while builds are obtained.
    deferred: Option<Deferred>,
}

impl<'a> Bench<'a> {
    /// Prepares runs below a data directory.
    pub(super) fn open(
        data: &'a DataRoot,
        limits: &Limits,
        environment: &Environment,
        health: &'a (dyn Fn() -> Option<DriveHealth> + Sync),
    ) -> Result<Self> {
        let path = std::env::current_exe().into_report()?;
        let engines = Workbench {
            program: WorkerProgram { path, arguments: vec!["worker".to_owned()] },
            data,
            libraries: BTreeMap::new(),
            servers: BTreeMap::new(),
            server_user: environment.server_user.clone(),
            allocators: environment.allocators.clone(),
            watchdog: limits.watchdog,
            disk_floor: limits.disk_floor,
            snapshot_limit: limits.snapshot_limit,
            profiler: None,
            drive: health().is_some().then_some(health),
            machine: None,
            block: None,
            clients: None,
            confinement: None,
            interrupt: Interrupt::default(),
        };
        Ok(Self { engines, storage: None, deferred: None })
    }

    /// Lets Ctrl-C stop what is checked and run from now on, instead of the process.
    pub(super) fn defer_stops(&mut self) {
        self.deferred = Some(signals::defer(self.engines.interrupt.clone(), ENDS_RUN));
    }

    /// Lets Ctrl-C leave blocks running that a scheduler runs.
    pub(super) fn defer_detachment(&mut self) {
        // The earlier one would end the later one.
        self.deferred = None;
        self.deferred = Some(signals::defer(self.engines.interrupt.clone(), DETACHES));
    }

    /// Ends what the runs needed; Ctrl-C ends the process once what it returns is dropped.
    pub(super) fn close(self) -> Option<Deferred> {
        phase::enter("for the data directory to be emptied, and the runs to be analysed");
        self.deferred
    }

    /// Checks the builds of engines, and returns their identities; shows what an engine waits for,
    /// and what is notable.
    pub(super) fn identities(
        &self,
        experiment: &Experiment,
        ui: &Ui,
    ) -> Result<BTreeMap<String, Identity>, RunnerError> {
        let mut identities = match &self.storage {
            Some(storage) => storage.identities(experiment),
            None => {
                let mut show = |event: Progress<'_>| show(ui, &event);
                runner::check_variants(&self.engines, experiment, &mut show)?
            }
        };
        for (variant, library) in &self.engines.libraries {
            if let Some(identity) = identities.get_mut(variant) {
                library.complete(identity);
            }
        }
        Ok(identities)
    }

    /// Measures what CPU profiles of a new experiment cost, before anything is archived.
    pub(super) fn measure_profiler(
        &mut self,
        experiment: &Experiment,
        ui: &Ui,
    ) -> Result<(), RunnerError> {
        let mut show = |event: Progress<'_>| show(ui, &event);
        self.engines.profiler = runner::measure_profiler(&self.engines, experiment, &mut show)?;
        Ok(())
    }

    /// Prepares the storage that the experiment is about, if it is about storage.
    pub(super) fn open_storage(&mut self, experiment: &Experiment, host: &Host) -> Result<()> {
        let Some(device) = &experiment.device else { return Ok(()) };
        let here = sampler::host_facts(self.engines.data.path()).device;
        if here != host.device {
            let name =
                |device: Option<String>| device.unwrap_or_else(|| "an unknown device".to_owned());
            return Err(miette!(
                help = "name a directory on the device of the experiment with --data-dir",
                "the experiment measures {}, but the data directory is on {}",
                name(host.device.clone()),
                name(here)
            ));
        }
        let request = Request {
            parent: Some(self.engines.data.path().to_owned()),
            raw: device.raw.as_ref().map(PathBuf::from),
            may_write_raw: false,
            range: device.size_bytes,
            disk_floor: self.engines.disk_floor,
        };
        let mut storage = Storage::open(request, host, self.engines.interrupt.clone())?;
        storage.make_file(experiment)?;
        self.storage = Some(storage);
        Ok(())
    }
}

/// Shows an event of the checks before the first run.
fn show(ui: &Ui, event: &Progress<'_>) {
    if let Progress::Waits(text) = event {
        ui.status(format_args!("waits     {text}"));
    } else if let Progress::Note(text) = event {
        ui.status(format_args!("note      {text}"));
    } else if let Progress::Begins(text) = event {
        phase::enter(*text);
    }
}
