//! The conformance battery on seven releases.

use engine::Driver;
use engine::conformance::battery;
use model::{Bytes, Durability, Options, Settings};

use crate::release::{on_release, profile};

/// Size of memtables and files, small enough for several of them.
const SMALL: &str = "65536";

/// The releases on which each value of a setting is tried alone too.
const IN_FULL: [&str; 2] = ["5.18.4", "11.8.1"];

/// Goal: every configuration gives right answers on a release.
/// Method: the battery on each profile, with both unsynced durability classes, each way of
/// changing parts and of reading several keys, and each kind of cache; small memtables send the
/// battery's few rows through flush and compaction. Each of these is in one battery at least in
/// every release; the oldest and the newest release have each alone too.
fn conforms(driver: &dyn Driver, version: &str) {
    let settings = |durability| Settings {
        durability,
        cache_bytes: Some(Bytes(8 << 20)),
        ..Settings::default()
    };
    let can = driver.capabilities();
    let none = settings(Durability::None);
    let options = |name: &str| {
        let mut options = profile(name, version);
        if version != "5.18.4" {
            options.set("write_buffer_size", SMALL);
            options.set("target_file_size_base", SMALL);
            options.set("arena_block_size", "8192");
        }
        // In 5.18.4 an iterator made while a memtable is flushed may miss a row that is just
        // being overwritten [RocksDB PR 6973]; with many flushes the battery finds it.
        options
    };
    let mut other = Options::new();
    if can.has("hyper_clock") {
        other.set("assay.cache", "hyper_clock");
    }
    if can.has("batched_multi_get") {
        other.set("assay.multi_get", "batched");
    }
    let with = |name: &str, more: &Options| {
        let mut options = options(name);
        options.overlay(more);
        options
    };
    let merging: Options = [("assay.value_changes", "merge")].into_iter().collect();
    let mut together = merging.clone();
    together.overlay(&other);
    battery(driver, &settings(Durability::Os), &options("rocksdb-leveled"));
    battery(driver, &none, &with("rocksdb-universal", &together));
    if can.has("blob") {
        battery(driver, &none, &options("rocksdb-blob"));
    }
    if IN_FULL.contains(&version) {
        battery(driver, &none, &options("rocksdb-leveled"));
        battery(driver, &none, &options("rocksdb-universal"));
        battery(driver, &none, &with("rocksdb-universal", &merging));
        if can.has("batched_multi_get") {
            battery(driver, &none, &with("rocksdb-leveled", &other));
        }
    }
}

macro_rules! releases {
    ($($test:ident: $version:literal,)*) => { $(
        #[test]
        fn $test() {
            on_release($version, concat!("battery::", stringify!($test)), |driver| {
                // What the battery checks only where a driver states it.
                assert_eq!(driver.immutable_files(), [".sst", ".blob"]);
                conforms(driver, $version);
            });
        }
    )* };
}

releases! {
    release_5_18_4_conforms: "5.18.4",
    release_6_29_5_conforms: "6.29.5",
    release_7_10_2_conforms: "7.10.2",
    release_8_11_4_conforms: "8.11.4",
    release_9_10_0_conforms: "9.10.0",
    release_10_4_2_conforms: "10.4.2",
    release_11_8_1_conforms: "11.8.1",
}
