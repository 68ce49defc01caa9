//! The lines of a stored run, as printed and as computed by hand.

use render::{Format, Lines};

use crate::fixture::stored;
use crate::lines::{parsed, rendered};

#[test]
fn stored_run_has_the_lines_of_each_report() {
    let stored = stored();
    for lines in Lines::ALL {
        insta::assert_snapshot!(lines.name(), rendered(&stored, lines, Format::Text));
    }
}

/// Goal: the figures of the snapshots follow from the record, and not from our code alone.
/// Method: the duration and the counters of one step are copied here from `record.json`.
#[test]
fn lines_of_a_stored_run_follow_from_its_counters() {
    const SECONDS: f64 = 9.471_433_742;
    const SAMPLED_US: f64 = 9_494_106.742;
    const SAMPLED_S: f64 = SAMPLED_US / 1e6;
    const GIB: f64 = 1_073_741_824.0;
    let stored = stored();
    for (lines, column, expected) in [
        (Lines::Ibench, "ips", 400_000.0 / SECONDS),
        (Lines::Ibench, "rps", 367.0 / SAMPLED_S),
        // The server's control group is of version 1: its writes are the device's.
        (Lines::Ibench, "dev_wps", 810.0 / SAMPLED_S),
        (Lines::Ibench, "dev_wmbps", 344_268_800.0 / 1_048_576.0 / SAMPLED_S),
        (Lines::Ibench, "dev_wpi", 810.0 / 400_000.0),
        (Lines::Ibench, "dev_wkbpi", 344_268_800.0 / 1_024.0 / 400_000.0),
        (Lines::Rocksdb, "c_wgb", (59_513_784.0 + 231_630_848.0) / GIB),
        (Lines::Rocksdb, "mb_sec", 21_998_958.0 / 1_048_576.0 / SECONDS),
        (Lines::Rocksdb, "p50", 1_063.935),
        (Lines::Rocksdb, "uptime", SECONDS),
        (Lines::Rocksdb, "u_cpu", (599_731.0 + 12_466_743.0) / 1e6),
        (Lines::Rocksdb, "s_cpu", (202_973.0 + 650_387.0) / 1e6),
        (Lines::Rocksdb, "rss", 319_811_584.0 / GIB),
        (Lines::Iostat, "r/s", 336.0 / SAMPLED_S),
        (Lines::Iostat, "wkB/s", 344_268_800.0 / 1_024.0 / SAMPLED_S),
        (Lines::Iostat, "r_await", 372.0 / 336.0),
        (Lines::Iostat, "w_await", 502.0 / 810.0),
        (Lines::Iostat, "f_await", 8.0 / 132.0),
        (Lines::Iostat, "rareq-sz", 249_617_408.0 / 1_024.0 / 336.0),
        (Lines::Iostat, "wareq-sz", 344_268_800.0 / 1_024.0 / 810.0),
        (Lines::Iostat, "aqu-sz", 960_000.0 / SAMPLED_US),
        (Lines::Iostat, "%util", 100.0 * 800_000.0 / SAMPLED_US),
    ] {
        let steps = parsed(&stored, lines);
        let line = steps.iter().find(|line| line["step"] == "l.i1").unwrap();
        let found = line["values"][column].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-6, "{column}: {found}, by hand {expected}");
    }
}
