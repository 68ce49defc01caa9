//! The conformance battery on seven releases.

use engine::Driver;
use engine::conformance::battery;
use model::{Bytes, Durability, Settings};

use crate::release::{on_release, profile};

/// Size of memtables and files, small enough for several of them.
const SMALL: &str = "65536";

/// Goal: every configuration gives right answers on a release.
/// Method: the battery on each profile, with both unsynced durability classes and each kind of
/// cache; small memtables send the battery's few rows through flush and compaction.
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
    battery(driver, &none, &options("rocksdb-leveled"));
    battery(driver, &settings(Durability::Os), &options("rocksdb-leveled"));
    let mut merging = options("rocksdb-universal");
    merging.set("assay.value_changes", "merge");
    battery(driver, &none, &options("rocksdb-universal"));
    battery(driver, &none, &merging);
    if can.has("blob") {
        battery(driver, &none, &options("rocksdb-blob"));
    }
    let mut other = options("rocksdb-leveled");
    if can.has("hyper_clock") {
        other.set("assay.cache", "hyper_clock");
    }
    if can.has("batched_multi_get") {
        other.set("assay.multi_get", "batched");
        battery(driver, &none, &other);
    }
}

macro_rules! releases {
    ($($test:ident: $version:literal,)*) => { $(
        #[test]
        fn $test() {
            on_release($version, concat!("battery::", stringify!($test)), |driver| conforms(driver, $version));
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
