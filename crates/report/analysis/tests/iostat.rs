//! The device's figures against those of sysstat's `iostat -x`: of given counters, and of a load.

#![expect(clippy::unwrap_used, reason = "a load that cannot be made fails its test")]

use std::env;
use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use model::{DataShape, Metric, Readings, Step, StepRecord, StopRule, metric};
use rustix::fs::OFlags;
use sampler::{Foreign, RunTargets, Sampler, for_run, host_facts};
use serde_json::Value;

/// The data of the steps here: no figure of the device depends on it.
const DATA: DataShape = DataShape { rows: 1, key_bytes: 1, value_bytes: 1, compressible_to: 1.0 };

/// Counters of a device in the order of `/sys/block/DEVICE/stat`, but for its busy and queue time.
const STAT: [u64; 17] = [
    400_000, 100_000, 6_400_000, 90_000, 200_000, 50_000, 12_800_000, 900_000, 0, 0, 0, 0, 0, 0, 0,
    10_000, 30_000,
];

/// Our figure, iostat's column, and the factor between them; of counters the growth per second.
const COLUMNS: [(Metric, &str, f64); 13] = [
    (metric::DEVICE_READS, "r/s", 1.0),
    (metric::DEVICE_READ_BYTES, "rkB/s", 1024.0),
    (metric::DEVICE_WRITES, "w/s", 1.0),
    (metric::DEVICE_WRITE_BYTES, "wkB/s", 1024.0),
    (metric::DEVICE_READ_AWAIT_US, "r_await", 1e3),
    (metric::DEVICE_WRITE_AWAIT_US, "w_await", 1e3),
    (metric::DEVICE_FLUSH_AWAIT_US, "f_await", 1e3),
    (metric::DEVICE_READ_SIZE_KIB, "rareq-sz", 1.0),
    (metric::DEVICE_WRITE_SIZE_KIB, "wareq-sz", 1.0),
    (metric::DEVICE_READ_MERGED_SHARE, "rrqm", 0.01),
    (metric::DEVICE_WRITE_MERGED_SHARE, "wrqm", 0.01),
    (metric::DEVICE_QUEUE_LENGTH, "aqu-sz", 1.0),
    (metric::DEVICE_BUSY_SHARE, "util", 0.01),
];

/// Goal: our definitions are those of `iostat -x`, within 5 % or the last digit that it prints.
/// Method: iostat reads a made-up tree in the place of `/sys`; its first report is over the time
/// since boot, which is our span too. No traffic, and no second clock, is part of it.
#[test]
fn the_figures_of_the_device_are_those_of_iostat() {
    let Some((device, number)) = device() else {
        println!("skipped: no block device in /sys/block");
        return;
    };
    let uptime_s = uptime_s();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ms since boot")]
    let share = |of: f64| (uptime_s * 1e3 * of) as u64;
    let mut stat = STAT;
    (stat[9], stat[10]) = (share(0.25), share(2.0));
    let dir = tempfile::tempdir().unwrap();
    let of_device = dir.path().join("dev/block").join(number);
    fs::create_dir_all(&of_device).unwrap();
    fs::write(of_device.join("stat"), stat.map(|value| value.to_string()).join(" ")).unwrap();
    if !has_iostat() {
        return;
    }
    let mut iostat = Command::new("iostat");
    iostat.args(["-x", "-d", "-o", "JSON", "-f"]).arg(dir.path()).arg(&device);
    let output = iostat.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("Usage: ") && !errors.contains("-f") {
        println!("skipped: this iostat has no option -f");
        return;
    }
    let report = serde_json::from_slice(&output.stdout);
    let report: Value = report.unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let shown = &report["sysstat"]["hosts"][0]["statistics"][0]["disk"][0];
    assert_eq!(shown["disk_device"], device, "{report}");
    let found = differences(shown, &figures(&step(&stat, uptime_s)), &COLUMNS);
    assert!(found.is_empty(), "{found:?}");
}

/// Returns whether iostat is installed, or prints that a test is skipped without it: in CI it
/// fails, as `scripts/setup.sh` installs it.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn has_iostat() -> bool {
    match Command::new("iostat").arg("-V").output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let is_ci = env::var_os("CI").is_some_and(|ci| ci == "true");
            assert!(!is_ci, "no iostat: scripts/setup.sh test installs the package sysstat");
            println!("skipped: no iostat; it is in the package sysstat");
            false
        }
        version => version.is_ok_and(|version| version.status.success()),
    }
}

/// Returns a step's metrics and, under their own names, the device's counters per second.
///
/// The lines of `assay compare --lines iostat` divide these by the same span.
fn figures(step: &StepRecord) -> Readings {
    let mut figures = analysis::step_metrics(step, &DATA);
    let seconds = step.sampled_ns().as_secs_f64();
    for (counter, ..) in &COLUMNS[..4] {
        let total = step.counters.value(*counter);
        figures.set(*counter, total.map(|total| total / seconds));
    }
    figures
}

/// Returns the seconds since boot, from the clock that iostat divides by.
fn uptime_s() -> f64 {
    let uptime = fs::read_to_string("/proc/uptime").unwrap();
    uptime.split(' ').next().unwrap().parse().unwrap()
}

/// Returns name and number of a block device: a loop device, which may go, where there is no other.
fn device() -> Option<(String, String)> {
    let devices = fs::read_dir("/sys/block").ok()?.flatten();
    let is_loop = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with("loop");
    let entry = devices.min_by_key(is_loop)?;
    let number = fs::read_to_string(entry.path().join("dev")).ok()?;
    Some((entry.file_name().into_string().ok()?, number.trim().to_owned()))
}

/// Returns a step of that many seconds with these counters.
fn step(stat: &[u64; 17], seconds: f64) -> StepRecord {
    let mut step = StepRecord::new(0, Step::new("readrandom", StopRule::Operations(1)));
    for (metric, at, scale) in [
        (metric::DEVICE_READS, 0, 1),
        (metric::DEVICE_READ_MERGES, 1, 1),
        (metric::DEVICE_READ_BYTES, 2, 512),
        (metric::DEVICE_READ_US, 3, 1_000),
        (metric::DEVICE_WRITES, 4, 1),
        (metric::DEVICE_WRITE_MERGES, 5, 1),
        (metric::DEVICE_WRITE_BYTES, 6, 512),
        (metric::DEVICE_WRITE_US, 7, 1_000),
        (metric::DEVICE_BUSY_US, 9, 1_000),
        (metric::DEVICE_QUEUE_US, 10, 1_000),
        (metric::DEVICE_FLUSHES, 15, 1),
        (metric::DEVICE_FLUSH_US, 16, 1_000),
    ] {
        step.counters.set(metric, stat[at] * scale);
    }
    step.counters.set(metric::HOST_SAMPLED_US, seconds * 1e6);
    step
}

/// Size of a request; a multiple of the blocks of any device.
const BLOCK_BYTES: usize = 16 << 10;

/// Requests that read or write the whole file once: 16 MiB.
const BLOCKS: u64 = 1024;

/// Time between two reads, and between two writes, each with its sync.
const READ_PACE: Duration = Duration::from_millis(1);
const WRITE_PACE: Duration = Duration::from_millis(4);

/// Time under load before iostat starts.
const WARM_UP: Duration = Duration::from_millis(500);

/// The interval of iostat, in seconds: the few milliseconds that its start takes are little of it.
const INTERVAL_S: u32 = 2;

/// Attempts of which one must agree.
const ATTEMPTS: u32 = 3;

/// Largest disturbances of a quiet host: the time by which iostat starts and ends late, as a share
/// of its interval, and the bytes of other programs, as a share of the device's bytes.
const LATE_MAX: f64 = 0.02;
const FOREIGN_MAX: f64 = 0.05;

/// Largest difference: as a share, and the last digit that iostat prints.
const SHARE: f64 = 0.05;
const LAST_DIGIT: f64 = 0.01;

/// A block with the alignment that direct IO needs.
#[repr(align(4096))]
struct Block([u8; BLOCK_BYTES]);

/// Goal: under load, our figures are those of an iostat that runs at the same time, within 5 % or
/// the last digit that it prints.
/// Method: two threads read and write a file past the page cache at fixed rates. iostat reports one
/// interval of 2 s; the sampler of runs reads the counters when iostat has started and when it has
/// ended. Both windows differ by milliseconds and other programs may use the device at their
/// bounds, so one of three attempts has to agree, in all columns at once. Where none does, a quiet
/// host has failed; a busy one, on which iostat was late or others used the device, is skipped.
#[test]
fn figures_under_load_are_those_of_an_iostat_at_the_same_time() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if !has_counters(dir.path()) {
        println!("skipped: {} lies on no block device with counters", dir.path().display());
        return;
    }
    if !has_iostat() {
        return;
    }
    let device = host_facts(dir.path()).device.expect("the device of the counters");
    let mut sampler = sampler_of(dir.path()).expect("a sampler of the counters");
    let file = match direct_file(&dir.path().join("blocks")) {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            println!("skipped: no direct IO in {}: {error}", dir.path().display());
            return;
        }
        file => file.unwrap(),
    };
    // The load has no merges.
    let columns: Vec<_> =
        COLUMNS.into_iter().filter(|(_, column, _)| !column.ends_with("rqm")).collect();
    let mut disturbed = Vec::new();
    for attempt in 0..ATTEMPTS {
        let (shown, metrics, disturbance) =
            under_load(&file, |issued| measure(&device, &mut sampler, issued));
        for metric in [metric::DEVICE_READ_AWAIT_US, metric::DEVICE_WRITE_AWAIT_US] {
            assert!(metrics.has(metric), "{device} had no requests of the load: {metrics:?}");
        }
        let found = differences(&shown, &metrics, &columns);
        println!("attempt {attempt}: {} columns differ {found:?}, {disturbance:?}", found.len());
        if found.is_empty() {
            return;
        }
        disturbed.extend(disturbance.is_large().then_some(disturbance));
    }
    assert!(!disturbed.is_empty(), "iostat and our figures differ in each attempt, see above");
    println!("skipped: host too busy ({disturbed:?})");
}

/// What the host does to an attempt, as shares.
#[derive(Debug)]
struct Disturbance {
    /// Time by which iostat started and ended late, of its interval.
    late: f64,
    /// Bytes of other programs, of all bytes of the device.
    foreign: f64,
}

impl Disturbance {
    fn is_large(&self) -> bool {
        self.late > LATE_MAX || self.foreign > FOREIGN_MAX
    }
}

/// Returns whether the kernel counts requests of the device of a directory.
fn has_counters(dir: &Path) -> bool {
    let number = fs::metadata(dir).unwrap().dev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    Path::new(&format!("/sys/dev/block/{major}:{minor}/stat")).exists()
}

/// Returns the bytes that a device has read and written since boot.
fn device_bytes(device: &str) -> u64 {
    let stat = fs::read_to_string(format!("/sys/block/{device}/stat")).unwrap();
    let fields: Vec<u64> = stat.split_whitespace().map(|field| field.parse().unwrap()).collect();
    (fields[2] + fields[6]) * 512
}

/// Returns the sampler of the device of a directory, as runs have it.
fn sampler_of(dir: &Path) -> Option<Sampler> {
    let targets = RunTargets {
        pid: Some(std::process::id()),
        data_dir: dir.to_owned(),
        cgroup: None,
        is_log: None,
        server: None,
        network: None,
        foreign: Foreign::Nowhere,
    };
    for_run(&targets).into_iter().find_map(|mut sampler| {
        let is_of_device = sampler(true).has(metric::DEVICE_READS);
        is_of_device.then_some(sampler)
    })
}

/// Returns a file whose blocks are all written, opened for direct IO.
fn direct_file(path: &Path) -> io::Result<File> {
    let mut file = File::create(path)?;
    for _ in 0..BLOCKS {
        file.write_all(&[7; BLOCK_BYTES])?;
    }
    file.sync_all()?;
    let flags = OFlags::DIRECT.bits().cast_signed();
    OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)
}

/// Returns what `measure` returns while the file is read and written; its argument grows by the
/// bytes.
fn under_load<T>(file: &File, measure: impl FnOnce(&AtomicU64) -> T) -> T {
    let issued = &AtomicU64::new(0);
    thread::scope(|scope| {
        let (reading, end_of_reads) = sync_channel(1);
        scope.spawn(move || {
            let mut block = Box::new(Block([0; BLOCK_BYTES]));
            issue(&end_of_reads, READ_PACE, issued, |at| {
                file.read_exact_at(&mut block.0, at).unwrap();
            });
        });
        let (writing, end_of_writes) = sync_channel(1);
        scope.spawn(move || {
            let block = Box::new(Block([9; BLOCK_BYTES]));
            issue(&end_of_writes, WRITE_PACE, issued, |at| {
                file.write_all_at(&block.0, at).unwrap();
                file.sync_data().unwrap();
            });
        });
        let (_open, never) = sync_channel::<()>(1);
        never.recv_timeout(WARM_UP).expect_err("the sender is open");
        let measured = measure(issued);
        // The threads end with their senders, also where the measurement panics.
        drop((reading, writing));
        measured
    })
}

/// Issues a request for block after block, at a pace, until the sender is dropped.
fn issue(end: &Receiver<()>, pace: Duration, issued: &AtomicU64, mut request: impl FnMut(u64)) {
    for block in (0..BLOCKS).cycle() {
        if end.recv_timeout(pace) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        request(block * BLOCK_BYTES as u64);
        issued.fetch_add(BLOCK_BYTES as u64, Ordering::Relaxed);
    }
}

/// Returns iostat's figures of one interval, our metrics of the same time, and its disturbance.
fn measure(
    device: &str,
    sampler: &mut Sampler,
    issued: &AtomicU64,
) -> (Value, Readings, Disturbance) {
    let bytes = || (device_bytes(device) as f64, issued.load(Ordering::Relaxed) as f64);
    let mut iostat = Command::new("iostat");
    let interval = INTERVAL_S.to_string();
    iostat.args(["-x", "-y", "-d", "-o", "JSON", device, &interval, "1"]).env("LC_ALL", "C");
    let child = iostat.stdout(Stdio::piped()).spawn().unwrap();
    let (start_s, start, before) = (uptime_s(), sampler(true), bytes());
    let output = child.wait_with_output().unwrap();
    let (end_s, end, after) = (uptime_s(), sampler(true), bytes());
    let (all, own) = (after.0 - before.0, after.1 - before.1);
    let disturbance = Disturbance {
        late: (end_s - start_s) / f64::from(INTERVAL_S) - 1.0,
        foreign: 1.0 - own / all,
    };
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let shown = &report["sysstat"]["hosts"][0]["statistics"][0]["disk"][0];
    assert_eq!(shown["disk_device"], device, "{report}");
    let growth = |(name, value): (&String, &f64)| Some((name.clone(), value - start.get(name)?));
    let mut step = StepRecord::new(0, Step::new("readrandom", StopRule::Operations(1)));
    step.counters = end.iter().filter_map(growth).collect();
    step.counters.set(metric::HOST_SAMPLED_US, (end_s - start_s) * 1e6);
    (shown.clone(), figures(&step), disturbance)
}

/// Returns the columns in which our metrics and iostat's figures differ, with both figures.
///
/// iostat prints 0 where there was no request of a kind.
fn differences(shown: &Value, metrics: &Readings, columns: &[(Metric, &str, f64)]) -> Vec<String> {
    let difference = |(metric, column, factor): &(Metric, &str, f64)| {
        let of_iostat = shown[*column].as_f64().unwrap();
        let ours = metrics.value(*metric).unwrap_or(0.0) / factor;
        let differs = (ours - of_iostat).abs() > LAST_DIGIT.max(SHARE * of_iostat);
        differs.then(|| format!("{column}: ours {ours:.4}, of iostat {of_iostat}"))
    };
    columns.iter().filter_map(difference).collect()
}
