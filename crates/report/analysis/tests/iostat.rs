//! The device's figures against those of sysstat's `iostat -x`: of given counters, and of a load.

#![expect(clippy::unwrap_used, reason = "a load that cannot be made fails its test")]

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::process::{Command, Stdio};
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
    let mut iostat = Command::new("iostat");
    iostat.args(["-x", "-d", "-o", "JSON", "-f"]).arg(dir.path()).arg(&device);
    let Ok(output) = iostat.output() else {
        return skip_without_iostat();
    };
    let report: Value = match serde_json::from_slice(&output.stdout) {
        Ok(report) => report,
        Err(error) => {
            println!("skipped: this iostat has no option -f, or no JSON: {error}");
            return;
        }
    };
    let shown = &report["sysstat"]["hosts"][0]["statistics"][0]["disk"][0];
    assert_eq!(shown["disk_device"], device, "{report}");
    let found = differences(shown, &figures(&step(&stat, uptime_s)), &COLUMNS);
    assert!(found.is_empty(), "{found:?}");
}

/// Returns where a test without iostat ends: in CI it fails, as `scripts/setup.sh` installs it.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn skip_without_iostat() {
    let is_ci = env::var_os("CI").is_some_and(|ci| ci == "true");
    assert!(!is_ci, "no iostat: scripts/setup.sh test installs the package sysstat");
    println!("skipped: no iostat; it is in the package sysstat");
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

/// Returns name and number of a block device.
fn device() -> Option<(String, String)> {
    let entry = fs::read_dir("/sys/block").ok()?.flatten().next()?;
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

/// The interval of iostat: the few milliseconds that its start takes are a thousandth of it.
const INTERVAL_S: &str = "4";

/// Attempts of which one must agree.
const ATTEMPTS: u32 = 3;

/// Largest difference: as a share, and the last digit that iostat prints.
const SHARE: f64 = 0.05;
const LAST_DIGIT: f64 = 0.01;

/// A block with the alignment that direct IO needs.
#[repr(align(4096))]
struct Block([u8; BLOCK_BYTES]);

/// Goal: under load, our figures are those of an iostat that runs at the same time, within 5 % or
/// the last digit that it prints.
/// Method: two threads read and write a file past the page cache at fixed rates. iostat reports one
/// interval of 4 s; the sampler of runs reads the counters when iostat has started and when it has
/// ended. Both windows differ by milliseconds and other programs may use the device at their
/// bounds, so one of three attempts has to agree, in all columns at once.
#[test]
fn figures_under_load_are_those_of_an_iostat_at_the_same_time() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Some((device, mut sampler)) = host_facts(dir.path()).device.zip(sampler_of(dir.path()))
    else {
        println!("skipped: {} lies on no block device with counters", dir.path().display());
        return;
    };
    if Command::new("iostat").arg("-V").output().is_err() {
        return skip_without_iostat();
    }
    let file = match direct_file(&dir.path().join("blocks")) {
        Ok(file) => file,
        Err(error) => {
            println!("skipped: no file for direct IO in {}: {error}", dir.path().display());
            return;
        }
    };
    // The load has no merges.
    let columns: Vec<_> =
        COLUMNS.into_iter().filter(|(_, column, _)| !column.ends_with("rqm")).collect();
    let agrees = (0..ATTEMPTS).any(|attempt| {
        let (shown, metrics) = under_load(&file, || measure(&device, &mut sampler));
        for metric in [metric::DEVICE_READ_AWAIT_US, metric::DEVICE_WRITE_AWAIT_US] {
            assert!(metrics.has(metric), "{device} had no requests of the load: {metrics:?}");
        }
        let found = differences(&shown, &metrics, &columns);
        println!("attempt {attempt}: {} columns differ {found:?}", found.len());
        found.is_empty()
    });
    assert!(agrees, "iostat and our figures differ in each of {ATTEMPTS} attempts, see above");
}

/// Returns the sampler of the device of a directory, as runs have it.
fn sampler_of(dir: &Path) -> Option<Sampler> {
    let targets = RunTargets {
        pid: std::process::id(),
        data_dir: dir.to_owned(),
        cgroup: None,
        is_log: None,
        server: None,
        foreign: Foreign::Nowhere,
    };
    for_run(targets).into_iter().find_map(|mut sampler| {
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

/// Returns what `measure` returns while the file is read and written.
fn under_load<T>(file: &File, measure: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (reading, end_of_reads) = sync_channel(1);
        scope.spawn(move || {
            let mut block = Box::new(Block([0; BLOCK_BYTES]));
            issue(&end_of_reads, READ_PACE, |at| file.read_exact_at(&mut block.0, at).unwrap());
        });
        let (writing, end_of_writes) = sync_channel(1);
        scope.spawn(move || {
            let block = Box::new(Block([9; BLOCK_BYTES]));
            issue(&end_of_writes, WRITE_PACE, |at| {
                file.write_all_at(&block.0, at).unwrap();
                file.sync_data().unwrap();
            });
        });
        let (_open, never) = sync_channel::<()>(1);
        never.recv_timeout(WARM_UP).expect_err("the sender is open");
        let measured = measure();
        // The threads end with their senders, also where the measurement panics.
        drop((reading, writing));
        measured
    })
}

/// Issues a request for block after block, at a pace, until the sender is dropped.
fn issue(end: &Receiver<()>, pace: Duration, mut request: impl FnMut(u64)) {
    for block in (0..BLOCKS).cycle() {
        if end.recv_timeout(pace) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        request(block * BLOCK_BYTES as u64);
    }
}

/// Returns iostat's figures of one interval, and our metrics of the same time.
fn measure(device: &str, sampler: &mut Sampler) -> (Value, Readings) {
    let mut iostat = Command::new("iostat");
    iostat.args(["-x", "-y", "-d", "-o", "JSON", device, INTERVAL_S, "1"]).env("LC_ALL", "C");
    let child = iostat.stdout(Stdio::piped()).spawn().unwrap();
    let (start_s, start) = (uptime_s(), sampler(true));
    let output = child.wait_with_output().unwrap();
    let (end_s, end) = (uptime_s(), sampler(true));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let shown = &report["sysstat"]["hosts"][0]["statistics"][0]["disk"][0];
    assert_eq!(shown["disk_device"], device, "{report}");
    let growth = |(name, value): (&String, &f64)| Some((name.clone(), value - start.get(name)?));
    let mut step = StepRecord::new(0, Step::new("readrandom", StopRule::Operations(1)));
    step.counters = end.iter().filter_map(growth).collect();
    step.counters.set(metric::HOST_SAMPLED_US, (end_s - start_s) * 1e6);
    (shown.clone(), figures(&step))
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
