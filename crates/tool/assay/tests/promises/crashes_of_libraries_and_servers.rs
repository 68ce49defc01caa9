//! Simulated crashes of engines that are not linked.

use std::path::Path;

use serde_json::Value;

use crate::workspace::Workspace;

/// Returns what cut `number` of an engine found; `None`, and why, where it cannot be made.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn cut(build: &str, arguments: &str, number: u32) -> Option<Value> {
    if !Path::new("/dev/fuse").exists() {
        println!("skipped: no /dev/fuse: modprobe fuse");
        return None;
    }
    if let Err(reason) = supply::testing::build(build) {
        println!("skipped in part: {reason}");
        return None;
    }
    let number = number.to_string();
    let cut = ["durability", "--engine", build, "--level", "file", "--cut", &number];
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    let json = ["--format", "json"];
    let output = Workspace::new().assay_on_servers(&[&cut[..], &arguments, &json].concat());
    let data: Value = serde_json::from_str(&output.out)
        .unwrap_or_else(|error| panic!("{error}: {}{}", output.out, output.err));
    Some(data["campaigns"][0]["summary"].clone())
}

/// Goal: a log of which single pages survive loses changes before others that survived.
/// Method: the seed draws whether the size of the log survives, which takes one of two cuts.
#[test]
fn unsynced_log_of_which_half_survives_loses_more_than_a_tail() {
    let arguments = "--durability os --survivors half";
    let cuts = (0..12).map_while(|number| cut("leveldb@system", arguments, number));
    let mut has_begun = false;
    let has_gap = cuts.inspect(|_| has_begun = true).any(|found| found["gaps"] == 1);
    assert!(has_gap || !has_begun, "every loss was a tail");
}

/// Goal: a log that is written past the cache, with a sync in each write, loses nothing.
#[test]
fn logs_written_with_direct_io_lose_nothing() {
    for (build, arguments, cuts) in [
        ("postgres@15.10", "--option wal_sync_method=open_datasync", 2),
        (
            "postgres@18.0",
            "--option wal_sync_method=open_datasync --option debug_io_direct=data,wal",
            2,
        ),
        ("mysql@8.0.31", "--option innodb_flush_method=O_DIRECT", 1),
    ] {
        for found in (0..cuts).map_while(|number| cut(build, arguments, number)) {
            assert_eq!((&found["cuts"], &found["losing"]), (&1.into(), &0.into()), "{build}");
        }
    }
}
