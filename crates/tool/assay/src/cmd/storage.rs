//! Prepares storage, runs the tests of an experiment over it, stores runs and profile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use archive::{ExperimentDir, Results};
use device::{Fio, Job, Place, RawDevice, TestFile, Work};
use device::{check_parent, directory, settings, step_record};
use miette::{Result, miette};
use model::{
    Access, Bytes, Cell, DEVICE_SCHEMA, DeviceCell, DeviceRecord, DeviceTarget, Experiment, FIO,
    Host, Identity, IoTest, Manifest, Privilege, RunEnd, RunRecord, StopRule, visible,
};
use runner::Interrupt;
use trust::Account;

use super::storage_trace::trace;
use crate::diagnostic::IntoReport as _;
use crate::progress::counted;
use crate::ui::Ui;

/// The storage to measure, and how much of it may be used.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    /// Directory in which the file is made; `None` without a file.
    pub(crate) parent: Option<PathBuf>,
    /// The device that is read.
    pub(crate) raw: Option<PathBuf>,
    /// Whether it is written too.
    pub(crate) may_write_raw: bool,
    /// The range of the device; the whole device when absent.
    pub(crate) range: Option<Bytes>,
    /// Disk space that must stay free.
    pub(crate) disk_floor: Bytes,
}

/// The storage that is measured.
pub(crate) struct Storage {
    pub(super) request: Request,
    pub(super) fio: Fio,
    file: Option<TestFile>,
    pub(super) raw: Option<RawDevice>,
    /// Directories in `/sys` of the devices of file and raw device.
    sys_dirs: [Option<PathBuf>; 2],
    interrupt: Interrupt,
    /// Whether it is filled, and its targets are known.
    is_ready: bool,
}

impl Storage {
    /// Returns where an access leads: place, directory of fio, counters.
    fn of(&self, access: Access) -> Option<(&Place, &Path, Option<&Path>)> {
        let [of_file, of_raw] = &self.sys_dirs;
        match access {
            Access::Raw => {
                let raw = self.raw.as_ref()?;
                Some((raw.place(), Path::new("/"), of_raw.as_deref()))
            }
            Access::Direct | Access::Buffered => {
                let file = self.file.as_ref()?;
                Some((file.place(), file.dir(), of_file.as_deref()))
            }
        }
    }

    /// Returns whether a test may be run: a raw device that may not be written is only read.
    fn may_run(&self, access: Access, test: IoTest) -> bool {
        let may_write = self.raw.as_ref().is_some_and(RawDevice::is_writable);
        access != Access::Raw || may_write || test.is_read_only()
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.level() > 0
    }

    /// Finds fio, and opens the device.
    pub(crate) fn open(request: Request, host: &Host, interrupt: Interrupt) -> Result<Self> {
        request.parent.as_deref().map_or(Ok(()), check_parent).into_report()?;
        let requested = interrupt.clone();
        let fio = Fio::find(move || requested.level() > 0).into_report()?;
        let raw = request.raw.as_ref().map(|path| RawDevice::open(path, request.may_write_raw));
        let raw = raw.transpose().into_report()?;
        let raw = match request.range {
            Some(size) => raw.map(|raw| raw.limited(size)),
            None => raw,
        };
        let of_file = request.parent.as_ref().and(host.device.as_deref()).map(directory);
        let of_raw = raw.as_ref().map(|raw| directory(raw.name()));
        Ok(Self {
            request,
            fio,
            file: None,
            raw,
            sys_dirs: [of_file, of_raw],
            interrupt,
            is_ready: false,
        })
    }

    /// Makes the file of an experiment, empty.
    pub(crate) fn make_file(&mut self, experiment: &Experiment) -> Result<()> {
        let has_file = experiment.variants.iter().any(|one| one.access() != Some(Access::Raw));
        let Some(parent) = self.request.parent.as_ref().filter(|_| has_file) else {
            return Ok(());
        };
        let size = experiment.device.as_ref().map_or(Bytes(0), model::DeviceSpec::file_bytes);
        let made = TestFile::create(parent, size, self.request.disk_floor);
        self.file = Some(made.into_report()?);
        Ok(())
    }

    /// Returns the identity of fio for each variant.
    pub(crate) fn identities(&self, experiment: &Experiment) -> BTreeMap<String, Identity> {
        let names = experiment.variants.iter().map(|variant| variant.name.clone());
        names.map(|name| (name, self.identity())).collect()
    }

    fn identity(&self) -> Identity {
        Identity {
            engine: FIO.to_owned(),
            version: self.fio.version().to_owned(),
            origin: "the search path".to_owned(),
            ..Identity::default()
        }
    }

    /// Returns an empty profile.
    pub(super) fn profile(&self, id: String, host: Host) -> DeviceRecord {
        DeviceRecord {
            schema: DEVICE_SCHEMA,
            id,
            created_at: runner::now_utc(),
            assay_version: env!("CARGO_PKG_VERSION").to_owned(),
            fio_version: self.fio.version().to_owned(),
            host,
            targets: Vec::new(),
            run_s: 0,
            repetitions: 1,
            cells: Vec::new(),
            untraced: None,
            steady: Vec::new(),
            is_complete: false,
        }
    }
}

/// Runs the incomplete runs of an experiment; returns how many are complete.
///
/// What an interrupt leaves is stored too. The profile has the experiment's identifier.
pub(crate) fn run_cells(
    storage: &mut Storage,
    dir: &ExperimentDir,
    manifest: &Manifest,
    results: &Results,
    ui: &Ui,
) -> Result<usize> {
    let experiment = &manifest.plan.experiment;
    let mut todo = Vec::new();
    for cell in &manifest.plan.cells {
        let run = dir.run(&cell.id).into_report()?;
        todo.extend((!run.is_some_and(|run| run.end.is_complete())).then_some(cell));
    }
    let mut complete = manifest.plan.cells.len() - todo.len();
    let stored = results.devices().0.into_iter().find(|one| one.id == manifest.id);
    let mut profile = stored.unwrap_or_else(|| new_profile(storage, manifest));
    if todo.is_empty() {
        return Ok(complete);
    }
    if !storage.is_ready {
        warn(storage, ui);
        prepare(experiment, storage, &mut profile, ui)?;
        storage.is_ready = true;
    }
    let bar = counted(ui, todo.len() as u64, "{bar:30} {pos}/{len}  {eta} left  {msg}");
    for cell in todo {
        bar.set_message(visible(&cell.id).into_owned());
        if storage.interrupt.forbids_runs() {
            break;
        }
        let end = run_cell(storage, dir, manifest, cell, &mut profile)?;
        if !end.is_complete() {
            ui.status(format_args!("{}: {}", cell.id, end.phrase()));
        }
        complete += usize::from(end.is_complete());
        profile.is_complete = complete == manifest.plan.cells.len();
        results.write_device(&profile).into_report()?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    if profile.is_complete {
        let (place_of, is_interrupted) = (|access| storage.of(access), || storage.is_interrupted());
        let traced = trace(&storage.fio, place_of, is_interrupted, &mut profile, ui);
        profile.untraced = traced.err();
        results.write_device(&profile).into_report()?;
    }
    Ok(complete)
}

/// Returns the profile of an experiment, with its cells by access, test and number of jobs.
fn new_profile(storage: &Storage, manifest: &Manifest) -> DeviceRecord {
    let experiment = &manifest.plan.experiment;
    let mut jobs = experiment.clients.clone();
    jobs.sort_unstable();
    let mut profile = storage.profile(manifest.id.clone(), manifest.host.clone());
    profile.repetitions = experiment.repetitions;
    profile.run_s = experiment.steps.first().map_or(0, |step| seconds(step.stop));
    for variant in &experiment.variants {
        // A control is its base again.
        let Some(access) = variant.access().filter(|_| !variant.is_control) else { continue };
        for step in &experiment.steps {
            let Ok(test) = step.name.parse::<IoTest>() else { continue };
            if storage.of(access).is_none() || !storage.may_run(access, test) {
                continue;
            }
            profile.cells.extend(jobs.iter().map(|&jobs| DeviceCell {
                access,
                test,
                jobs,
                job_file: String::new(),
                samples: Vec::new(),
                traced: None,
                refusal: None,
            }));
        }
    }
    profile
}

/// Returns the whole seconds of a run of fio.
fn seconds(stop: StopRule) -> u64 {
    match stop {
        StopRule::Duration(span) => span.0 / 1_000_000_000,
        StopRule::Operations(_) => 0,
    }
}

/// Runs the tests of a cell, and archives them as the steps of a run; returns how it ended.
///
/// A test that fio rejects does not end the others: a device may have larger sectors.
fn run_cell(
    storage: &Storage,
    dir: &ExperimentDir,
    manifest: &Manifest,
    cell: &Cell,
    profile: &mut DeviceRecord,
) -> Result<RunEnd> {
    let experiment = &manifest.plan.experiment;
    let variant = experiment.variant(&cell.variant);
    let found = variant.and_then(|variant| {
        let access = variant.access()?;
        Some((variant, access, storage.of(access)?))
    });
    let Some((variant, access, (place, work_dir, sys_dir))) = found else {
        return Err(miette!("the variant {} has no storage", cell.variant));
    };
    let mut run = RunRecord::begun(&manifest.id, cell, variant.clone(), runner::now_utc());
    run.effective_options = variant.options.clone();
    run.identity = Some(storage.identity());
    let mut writer = dir.begin_run(&cell.id).into_report()?;
    writer.write_record(&run).into_report()?;
    let mut samples = Vec::new();
    run.end = RunEnd::Complete;
    for (index, step) in (0..).zip(experiment.steps_for(cell.clients)) {
        let test: IoTest = step.name.parse().map_err(|error| miette!("{error}"))?;
        if !storage.may_run(access, test) {
            continue;
        }
        let work = Work::Test(test, seconds(step.stop));
        let job = Job { place, access, work, jobs: cell.clients, seed: cell.seed };
        let text = job.text();
        writer.keep_engine_text(&format!("{index}.{test}.fio"), &text).into_report()?;
        let started_at = runner::now_utc();
        let sample = storage.fio.run(&job, work_dir, sys_dir);
        // A run that Ctrl-C shortened does not count.
        if storage.is_interrupted() {
            run.end = RunEnd::Interrupted { step: step.name };
            break;
        }
        match &sample {
            Ok(sample) => run.steps.push(step_record(index, step, test, sample, started_at)),
            Err(error) if run.end.is_complete() => {
                run.end = RunEnd::Failed { step: step.name, reason: error.to_string() };
            }
            Err(_) => {}
        }
        samples.push((test, text, sample));
    }
    run.ended_at = Some(runner::now_utc());
    writer.finish(&run).into_report()?;
    if matches!(run.end, RunEnd::Interrupted { .. }) {
        return Ok(run.end);
    }
    for (test, text, sample) in samples {
        let is_own =
            |of: &&mut DeviceCell| (of.access, of.test, of.jobs) == (access, test, cell.clients);
        let Some(own) = profile.cells.iter_mut().find(is_own) else { continue };
        if own.job_file.is_empty() {
            own.job_file = text;
        }
        match sample {
            Ok(sample) => {
                own.samples.push(sample);
                own.refusal = None;
            }
            Err(error) => own.refusal = Some(error.to_string()),
        }
    }
    Ok(run.end)
}

/// Names directories that killed processes left, and states that writers to a device that this
/// account fills may be hidden.
fn warn(storage: &Storage, ui: &Ui) {
    let parent = storage.request.parent.as_deref();
    for path in parent.map(TestFile::leftovers).unwrap_or_default() {
        ui.status(format_args!(
            "remove {}, which an `assay device` left behind when it was killed",
            path.display()
        ));
    }
    if storage.raw.as_ref().is_some_and(RawDevice::is_writable)
        && Account::of_this_process().uid != 0
    {
        let privilege = Privilege::OTHER_PROCESSES;
        ui.status(format_args!("writers of other accounts are not found: this {privilege}"));
    }
}

/// Fills the file, and a device that may be written; records the targets.
fn prepare(
    experiment: &Experiment,
    storage: &Storage,
    profile: &mut DeviceRecord,
    ui: &Ui,
) -> Result<()> {
    let is_filled = experiment.device.as_ref().is_some_and(|device| device.is_filled);
    profile.targets.clear();
    for access in [Access::Raw, Access::Direct] {
        let Some((place, _, _)) = storage.of(access) else { continue };
        let may_write = match &storage.raw {
            Some(raw) if access == Access::Raw => raw.is_writable(),
            _ => storage.file.is_some(),
        };
        if may_write && is_filled {
            fill(storage, access, place, ui)?;
        }
        profile.targets.push(target(storage, access, profile.host.filesystem.as_ref())?);
    }
    Ok(())
}

/// Fills a place, with a bar.
fn fill(storage: &Storage, access: Access, place: &Place, ui: &Ui) -> Result<()> {
    let bar = counted(ui, place.size.0, "filling  {bar:30} {bytes}/{total_bytes}  {eta} left");
    let mut goes_on = |written: Bytes| {
        bar.set_position(written.0);
        !storage.is_interrupted()
    };
    let filled = match (&storage.raw, &storage.file) {
        (Some(raw), _) if access == Access::Raw => raw.fill(&storage.fio, place, &mut goes_on),
        (_, Some(file)) => file.fill(&storage.fio, &mut goes_on),
        _ => Ok(()),
    };
    bar.finish_and_clear();
    if storage.is_interrupted() {
        return Err(miette!("interrupted before anything was measured"));
    }
    filled.into_report()
}

/// Returns a target with the share that was never written.
fn target(storage: &Storage, access: Access, filesystem: Option<&String>) -> Result<DeviceTarget> {
    let never_written = match (&storage.raw, &storage.file) {
        (Some(raw), _) if access == Access::Raw => {
            Ok((raw.reads_as_zeros().into_report()?, "places that read as zeros"))
        }
        (_, Some(file)) => file.never_written().map(|share| (share, "extents of the file")),
        _ => unreachable!("an access that leads somewhere has a file or a device"),
    };
    let (never_written, never_written_by) = match never_written {
        Ok((share, by)) => (Some(share), by.to_owned()),
        Err(error) => (None, error.to_string()),
    };
    let known = known_target(storage, access, filesystem);
    Ok(DeviceTarget { never_written, never_written_by, ..known })
}

/// Returns what is known of a target before it is read.
pub(super) fn known_target(
    storage: &Storage,
    access: Access,
    filesystem: Option<&String>,
) -> DeviceTarget {
    let is_raw = access == Access::Raw;
    let [of_file, of_raw] = &storage.sys_dirs;
    let sys_dir = if is_raw { of_raw } else { of_file };
    let path = if is_raw { &storage.request.raw } else { &storage.request.parent };
    let name = sys_dir.as_ref().and_then(|dir| dir.file_name());
    DeviceTarget {
        path: path.as_ref().map(|path| path.display().to_string()).unwrap_or_default(),
        is_raw,
        device: name.map(|name| name.to_string_lossy().into_owned()),
        filesystem: filesystem.filter(|_| !is_raw).cloned(),
        size_bytes: storage.of(access).map_or(Bytes(0), |(place, _, _)| place.size),
        never_written: None,
        never_written_by: String::new(),
        queue: sys_dir.as_deref().map(settings).unwrap_or_default(),
    }
}
