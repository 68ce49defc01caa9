//! The device's figures against those of sysstat's `iostat -x`.

use std::fs;
use std::process::Command;

use model::{DataShape, Metric, Step, StepRecord, StopRule, metric};

/// Counters of a device in the order of `/sys/block/DEVICE/stat`, but for its busy and queue time.
const STAT: [u64; 17] = [
    400_000, 100_000, 6_400_000, 90_000, 200_000, 50_000, 12_800_000, 900_000, 0, 0, 0, 0, 0, 0, 0,
    10_000, 30_000,
];

/// Our metric, iostat's column, and the factor between them.
const COLUMNS: [(Metric, &str, f64); 9] = [
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

/// Goal: our definitions are those of `iostat -x`, within 5 %.
/// Method: iostat reads a made-up tree in the place of `/sys`; its first report is over the time
/// since boot, which is our span too. No traffic, and no second clock, is part of it.
#[test]
fn the_figures_of_the_device_are_those_of_iostat() {
    let Some((device, number)) = device() else {
        println!("skipped: no block device in /sys/block");
        return;
    };
    let uptime = fs::read_to_string("/proc/uptime").unwrap();
    let uptime_s: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
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
        println!("skipped: no iostat; it is in the package sysstat");
        return;
    };
    let report: serde_json::Value = match serde_json::from_slice(&output.stdout) {
        Ok(report) => report,
        Err(error) => {
            println!("skipped: this iostat has no option -f, or no JSON: {error}");
            return;
        }
    };
    let shown = &report["sysstat"]["hosts"][0]["statistics"][0]["disk"][0];
    assert_eq!(shown["disk_device"], device, "{report}");
    let data = DataShape { rows: 1, key_bytes: 1, value_bytes: 1, compressible_to: 1.0 };
    let metrics = analysis::step_metrics(&step(&stat, uptime_s), &data);
    for (metric, column, factor) in COLUMNS {
        let of_iostat = shown[column].as_f64().unwrap() * factor;
        let ours = metrics.value(metric).unwrap();
        assert!((ours / of_iostat - 1.0).abs() <= 0.05, "{metric} {ours}, {column} {of_iostat}");
    }
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
