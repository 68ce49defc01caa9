//! Prepares storage, runs the tests over it, and stores the profile.

use std::path::{Path, PathBuf};

use archive::Results;
use device::{
    DeviceError, Direction, Fio, Job, Place, ROUND_S, RawDevice, TestFile, Tracer, Work,
    WriteBudget, directory, settings, settle,
};
use miette::{Result, miette};
use model::{
    Access, Bytes, DEVICE_SCHEMA, DeviceCell, DeviceRecord, DeviceTarget, IoSample, IoTest,
    IoTotals, SteadyLevel, TracedRun, whole,
};
use runner::Interrupt;

use super::device_options::Measure;
use crate::diagnostic::IntoReport as _;
use crate::progress::counted;
use crate::ui::Ui;

/// Size of the file when none is given.
const FILE_SIZE: Bytes = Bytes(4 << 30);

/// Least room for each job, so that every region is larger than a request.
const JOB_BYTES: u64 = 1 << 20;

/// Length of a traced run, in seconds.
const TRACED_S: u64 = 1;

/// Levels of fullness. Our choice: half full, usual, and where drives become slow.
const LEVELS: [f64; 3] = [0.5, 0.7, 0.9];

/// The storage that is measured.
struct Storage {
    fio: Fio,
    file: Option<TestFile>,
    raw: Option<RawDevice>,
    /// Directories in `/sys` of the devices of file and raw device.
    sys_dirs: [Option<PathBuf>; 2],
    interrupt: Interrupt,
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

    fn is_interrupted(&self) -> bool {
        self.interrupt.level() > 0
    }
}

/// Measures, stores and returns the profile; what an interrupt leaves is stored too.
pub(crate) fn measure(args: &Measure, results: &Results, ui: &Ui) -> Result<DeviceRecord> {
    let fio = Fio::find().into_report()?;
    let interrupt = Interrupt::default();
    let raised = interrupt.clone();
    ctrlc::set_handler(move || raised.raise()).into_report()?;
    let raw = args.raw.as_ref().map(|path| RawDevice::open(path, args.destroy.is_some()));
    let raw = raw.transpose().into_report()?;
    let raw = match args.size {
        Some(size) => raw.map(|raw| raw.limited(size)),
        None => raw,
    };
    let host = sampler::host_facts(args.path.as_deref().unwrap_or(Path::new("/")));
    let of_file = args.path.as_ref().and(host.device.as_deref()).map(directory);
    let of_raw = raw.as_ref().map(|raw| directory(raw.name()));
    let mut storage = Storage { fio, file: None, raw, sys_dirs: [of_file, of_raw], interrupt };
    let mut record = DeviceRecord {
        schema: DEVICE_SCHEMA,
        id: runner::stamp_id(std::process::id()),
        created_at: runner::now_utc(),
        assay_version: env!("CARGO_PKG_VERSION").to_owned(),
        fio_version: storage.fio.version().to_owned(),
        host,
        targets: Vec::new(),
        run_s: 0,
        repetitions: args.repetitions,
        cells: Vec::new(),
        untraced: None,
        steady: Vec::new(),
        is_complete: false,
    };
    warn_of_leftovers(args, ui);
    if let Some(limit) = args.steady.write_limit {
        until_steady(args, (&storage, results), (&mut record, limit), ui)?;
    } else {
        let cells = cells(args, &storage);
        record.run_s = run_seconds(args, &cells)?;
        record.cells = cells;
        prepare(args, &mut storage, &mut record, ui)?;
        test(&storage, results, &mut record, ui)?;
    }
    results.write_device(&record).into_report()?;
    Ok(record)
}

/// Names directories that killed processes left.
fn warn_of_leftovers(args: &Measure, ui: &Ui) {
    let parent = args.path.as_deref();
    for path in parent.map(TestFile::leftovers).unwrap_or_default() {
        ui.status(format_args!(
            "{} is of another `assay device`: remove it if none is running",
            path.display()
        ));
    }
}

/// Returns the planned cells, by access, test and number of jobs.
fn cells(args: &Measure, storage: &Storage) -> Vec<DeviceCell> {
    let is_wanted = |access: &Access| {
        let is_there = match access {
            Access::Raw => args.raw.is_some(),
            Access::Direct | Access::Buffered => args.path.is_some(),
        };
        is_there && (args.accesses.is_empty() || args.accesses.contains(access))
    };
    let is_test = |test: &IoTest| match args.tests.is_empty() {
        true => *test != IoTest::RandRead512,
        false => args.tests.contains(test),
    };
    let may_write = storage.raw.as_ref().is_some_and(RawDevice::is_writable);
    let mut jobs = args.jobs.clone();
    jobs.sort_unstable();
    jobs.dedup();
    let mut cells = Vec::new();
    for access in Access::ALL.into_iter().filter(is_wanted) {
        for test in IoTest::ALL.into_iter().filter(is_test) {
            if access == Access::Raw && !may_write && !test.is_read_only() {
                continue;
            }
            cells.extend(jobs.iter().map(|&jobs| DeviceCell {
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
    cells
}

/// Returns the length of a run, so that all fit into the time given.
fn run_seconds(args: &Measure, cells: &[DeviceCell]) -> Result<u64> {
    let runs = cells.len() as u64 * u64::from(args.repetitions);
    if runs == 0 {
        return Err(miette!(
            help = "a raw device is only read without --destroy; --access direct and buffered \
                    need --path, raw needs --raw",
            "no test is left of these"
        ));
    }
    let traced = cells.iter().filter(|cell| is_traced(cell)).count() as u64 * TRACED_S;
    match whole(args.minutes * 60.0).saturating_sub(traced) / runs {
        0 => Err(miette!(
            help = "give more --minutes, or fewer --jobs, --test, --access or --repetitions",
            "{runs} runs of a second at least do not fit into {} min: they take {}",
            args.minutes,
            (runs + traced).div_ceil(60)
        )),
        seconds => Ok(seconds),
    }
}

/// Makes and fills the file, fills a device that may be written, and records the targets.
fn prepare(
    args: &Measure,
    storage: &mut Storage,
    record: &mut DeviceRecord,
    ui: &Ui,
) -> Result<()> {
    let least = Bytes(JOB_BYTES * u64::from(args.jobs.iter().copied().max().unwrap_or(1)));
    if let Some(size) = args.size.filter(|size| *size < least) {
        return Err(miette!(
            help = "give a larger --size, or fewer --jobs",
            "a range of {size} is less than {least}, 1 MiB for each job"
        ));
    }
    let is_of_file = |cell: &DeviceCell| cell.access != Access::Raw;
    if let Some(parent) = args.path.as_ref().filter(|_| record.cells.iter().any(is_of_file)) {
        let size = args.size.unwrap_or(FILE_SIZE);
        storage.file = Some(TestFile::create(parent, size, args.disk_floor).into_report()?);
    }
    let has_file = storage.file.is_some();
    for access in [Access::Raw, Access::Direct] {
        let Some((place, _, _)) = storage.of(access) else { continue };
        let may_write = match &storage.raw {
            Some(raw) if access == Access::Raw => raw.is_writable(),
            _ => has_file,
        };
        if may_write && !args.no_fill {
            fill(storage, access, place, ui)?;
        }
        record.targets.push(target(args, storage, access, record.host.filesystem.as_ref())?);
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
fn target(
    args: &Measure,
    storage: &Storage,
    access: Access,
    filesystem: Option<&String>,
) -> Result<DeviceTarget> {
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
    let known = known_target(args, storage, access, filesystem);
    Ok(DeviceTarget { never_written, never_written_by, ..known })
}

/// Returns what is known of a target before it is read.
fn known_target(
    args: &Measure,
    storage: &Storage,
    access: Access,
    filesystem: Option<&String>,
) -> DeviceTarget {
    let is_raw = access == Access::Raw;
    let [of_file, of_raw] = &storage.sys_dirs;
    let sys_dir = if is_raw { of_raw } else { of_file };
    let path = if is_raw { &args.raw } else { &args.path };
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

/// Runs all cells, repetition by repetition; every second one backwards, so that drift cancels.
fn test(storage: &Storage, results: &Results, record: &mut DeviceRecord, ui: &Ui) -> Result<()> {
    let runs = u64::from(record.repetitions) * record.cells.len() as u64;
    let bar = counted(ui, runs, "{bar:30} {pos}/{len}  {eta} left  {msg}");
    for repetition in 0..record.repetitions {
        let mut order: Vec<usize> = (0..record.cells.len()).collect();
        if repetition % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let cell = &mut record.cells[at];
            bar.set_message(format!("{} {} {} jobs", cell.access, cell.test, cell.jobs));
            if cell.refusal.is_none() && !run_cell(storage, cell, (repetition, record.run_s)) {
                bar.finish_and_clear();
                return Ok(());
            }
            bar.inc(1);
        }
        results.write_device(record).into_report()?;
    }
    bar.finish_and_clear();
    record.untraced = trace(storage, record, ui).err();
    record.is_complete = !storage.is_interrupted();
    Ok(())
}

/// Returns whether a cell is run once more with the tracer on.
///
/// Through the page cache requests are not fio's. Of syncs the tracer would pair the writes.
fn is_traced(cell: &DeviceCell) -> bool {
    let is_plain = cell.access != Access::Buffered && cell.test != IoTest::Fdatasync4k;
    is_plain && cell.refusal.is_none()
}

/// Runs cells once more with the block layer traced.
fn trace(storage: &Storage, record: &mut DeviceRecord, ui: &Ui) -> std::result::Result<(), String> {
    let cells: Vec<_> = record.cells.iter_mut().filter(|cell| is_traced(cell)).collect();
    let bar = counted(ui, cells.len() as u64, "tracing  {bar:30} {pos}/{len}  {eta} left");
    for cell in cells {
        let Some((place, dir, sys_dir)) = storage.of(cell.access) else { continue };
        let sys_dir = sys_dir.ok_or("the file system has no device of its own")?;
        let tracer = Tracer::open(sys_dir)?;
        let work = Work::Test(cell.test, TRACED_S);
        let job = Job { place, access: cell.access, work, jobs: cell.jobs, seed: 0 };
        let (direction, own): (_, fn(&IoSample) -> Option<IoTotals>) = match cell.test {
            IoTest::RandWrite4k | IoTest::Write128k => (Direction::Write, |sample| sample.write),
            IoTest::RandRead512
            | IoTest::RandRead4k
            | IoTest::RandRead16k
            | IoTest::RandRw4k
            | IoTest::Fdatasync4k => (Direction::Read, |sample| sample.read),
        };
        let (sample, times) = tracer.trace(direction, || storage.fio.run(&job, dir, None))?;
        if storage.is_interrupted() {
            break;
        }
        let mean_ns = sample.ok().and_then(|sample| own(&sample)).map(|own| own.mean_ns);
        cell.traced = mean_ns.zip(times).map(|(mean_ns, times)| TracedRun { mean_ns, times });
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// Runs a cell once; returns whether to go on.
fn run_cell(storage: &Storage, cell: &mut DeviceCell, (repetition, seconds): (u32, u64)) -> bool {
    let Some((place, dir, sys_dir)) = storage.of(cell.access) else { return true };
    if storage.is_interrupted() {
        return false;
    }
    let work = Work::Test(cell.test, seconds);
    let seed = u64::from(repetition) + 1;
    let job = Job { place, access: cell.access, work, jobs: cell.jobs, seed };
    if repetition == 0 {
        cell.job_file = job.text();
    }
    let sample = storage.fio.run(&job, dir, sys_dir);
    match sample {
        // A run that Ctrl-C shortened does not count.
        _ if storage.is_interrupted() => return false,
        Ok(sample) => cell.samples.push(sample),
        Err(error) => cell.refusal = Some(error.to_string()),
    }
    true
}

/// Writes at each level of fullness until the rate is steady or the limit is reached.
fn until_steady(
    args: &Measure,
    (storage, results): (&Storage, &Results),
    (record, limit): (&mut DeviceRecord, Bytes),
    ui: &Ui,
) -> Result<()> {
    let mut budget = WriteBudget { left: limit };
    let access = if storage.raw.is_some() { Access::Raw } else { Access::Direct };
    record.targets.push(DeviceTarget {
        never_written_by: "it is filled at each level".to_owned(),
        ..known_target(args, storage, access, record.host.filesystem.as_ref())
    });
    for full in LEVELS {
        let mut level = SteadyLevel { full, round_s: ROUND_S, ..SteadyLevel::default() };
        match one_level(args, storage, (&mut level, &mut budget), ui) {
            Ok(()) => {}
            Err(DeviceError::NoRoom(..)) => level.ended = "the disk floor".to_owned(),
            Err(_) if storage.is_interrupted() => level.ended = "interrupted".to_owned(),
            Err(error) => level.ended = error.to_string(),
        }
        record.steady.push(level);
        results.write_device(record).into_report()?;
        if storage.is_interrupted() {
            return Ok(());
        }
    }
    record.is_complete = true;
    Ok(())
}

/// Fills the storage to a level, and writes there.
fn one_level(
    args: &Measure,
    storage: &Storage,
    (level, budget): (&mut SteadyLevel, &mut WriteBudget),
    ui: &Ui,
) -> std::result::Result<(), DeviceError> {
    let size = match (&storage.raw, &args.path) {
        (Some(raw), _) => Bytes(whole(raw.place().size.0 as f64 * level.full) >> 20 << 20),
        (None, Some(parent)) => TestFile::size_at(parent, level.full)?,
        (None, None) => Bytes(0),
    };
    level.size_bytes = size;
    if size.0 < JOB_BYTES {
        level.ended = "it is fuller already".to_owned();
        return Ok(());
    }
    if budget.left <= size {
        level.ended = format!("the write limit leaves {} and the fill takes {size}", budget.left);
        return Ok(());
    }
    let file = match (&storage.raw, &args.path) {
        (None, Some(parent)) => Some(TestFile::create(parent, size, args.disk_floor)?),
        _ => None,
    };
    let line = |text: String| {
        let is_on = !storage.is_interrupted();
        if is_on {
            ui.status(text);
        }
        is_on
    };
    let mut filling = |written: Bytes| line(format!("filling: {written} of {size}"));
    let (place, access, dir) = match (&file, &storage.raw) {
        (Some(file), _) => {
            file.fill(&storage.fio, &mut filling)?;
            (file.place().clone(), Access::Direct, file.dir())
        }
        (None, Some(raw)) => {
            let place = Place { size, ..raw.place().clone() };
            raw.fill(&storage.fio, &place, &mut filling)?;
            (place, Access::Raw, Path::new("/"))
        }
        (None, None) => return Ok(()),
    };
    budget.take(size);
    level.written_bytes = size;
    let mut goes_on = |level: &SteadyLevel| {
        let last = level.writes_per_s.last().map_or(0, |rate| whole(*rate));
        let rounds = level.writes_per_s.len();
        line(format!("{:.0} % full: {rounds} rounds, {last} writes/s", 100.0 * level.full))
    };
    settle(&storage.fio, (&place, access, dir), (level, budget), &mut goes_on)
}
