//! The repository's profiles on every release.

use std::collections::BTreeMap;

use engine::conformance::TestRun;
use engine::{Driver, OpenSpec};
use model::{Bytes, DataShape, Options, Settings};

use crate::release::{on_release, profile};

const RELEASES: [&str; 7] = ["5.18.4", "6.29.5", "7.10.2", "8.11.4", "9.10.0", "10.4.2", "11.8.1"];

/// Prefix of each option a child prints.
const MARK: &str = "effective: ";

/// Options that differ by default, and why that does not affect results.
const MAY_DIFFER: &[&str] = &[
    // Whether opening fails when the OPTIONS file cannot be written.
    "fail_if_options_file_error",
];

fn effective(driver: &dyn Driver, options: Options) -> (String, Options) {
    let dir = tempfile::tempdir().expect("a scratch directory can be made");
    let engine = driver
        .open(&OpenSpec {
            options,
            ..OpenSpec::embedded(
                dir.path().to_owned(),
                Settings { cache_bytes: Some(Bytes(8 << 20)), ..Settings::default() },
                DataShape { rows: 1, key_bytes: 20, value_bytes: 100, compressible_to: 1.0 },
            )
        })
        .expect("the profile is accepted");
    let found = engine.effective_options().expect("the OPTIONS file is there");
    let version = engine.identity().version;
    engine.close().expect("an empty database closes");
    (version, found)
}

#[test]
fn every_release_accepts_its_profiles() {
    for version in RELEASES {
        let ran = on_release(version, "profiles::every_release_accepts_its_profiles", |driver| {
            let version = effective(driver, Options::new()).0;
            let release: Vec<u32> = version.split('.').map(|part| part.parse().unwrap()).collect();
            let can = driver.capabilities();
            assert_eq!(can.has("blob"), release >= vec![6, 20], "{version}");
            assert_eq!(can.has("blob_cache"), release >= vec![7, 4], "{version}");
            let mut names = vec![
                "rocksdb-stock",
                "rocksdb-leveled",
                "rocksdb-universal",
                "rocksdb-vs-splinterdb",
                "rocksdb-vs-splinterdb-universal",
            ];
            if can.has("blob") {
                names.extend(["rocksdb-blob", "rocksdb-dbbench"]);
            }
            if can.has("blob_cache") {
                names.push("rocksdb-blob-shared");
            }
            for name in names {
                effective(driver, profile(name, &version));
            }
        });
        if ran == TestRun::Here {
            break;
        }
    }
}

/// Goal: releases opened with `rocksdb-consistent` differ in code and not in configuration.
/// Method: every option that two releases have in common has one value, as they read it back.
#[test]
fn consistent_profile_is_the_same_in_every_release() {
    let test = "profiles::consistent_profile_is_the_same_in_every_release";
    let mut found: BTreeMap<String, BTreeMap<String, Vec<&str>>> = BTreeMap::new();
    let mut releases = 0;
    for version in RELEASES {
        let ran = on_release(version, test, |driver| {
            let version = effective(driver, Options::new()).0;
            let options = effective(driver, profile("rocksdb-consistent", &version)).1;
            options.iter().for_each(|(name, value)| println!("{MARK}{name}={value}"));
        });
        let output = match ran {
            TestRun::Here => return,
            TestRun::InChild(output) => output,
            TestRun::Skipped => continue,
        };
        releases += 1;
        // The child's test harness may have begun the line.
        let lines = output.lines().filter_map(|line| line.split_once(MARK)?.1.split_once('='));
        for (name, value) in lines.filter(|(name, _)| !MAY_DIFFER.contains(name)) {
            let values = found.entry(name.to_owned()).or_default();
            values.entry(value.to_owned()).or_default().push(version);
        }
    }
    if releases == 1 {
        println!("skipped: one release alone is compared with none");
    }
    assert!(releases == 0 || found.len() > 100, "options were read: {}", found.len());
    found.retain(|_, values| values.len() > 1);
    assert!(found.is_empty(), "{found:#?}");
}
