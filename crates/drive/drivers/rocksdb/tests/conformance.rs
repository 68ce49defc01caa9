//! The conformance battery on seven releases, each in a process of its own.

#![expect(missing_docs, reason = "a test's name is its documentation")]

mod release;

use engine::Driver;
use model::capability::DIRECT_IO;
use model::{Bytes, Durability, Settings};
use release::{on_release, profile};

/// Goal: every way the driver can be used gives right answers on a release.
/// Method: the battery on each profile, with both ends of durability and each kind of cache; a
/// small memtable makes the battery's few rows pass through flush and compaction.
fn conforms(driver: &dyn Driver, version: &str) {
    let settings = |durability| Settings {
        durability,
        cache_bytes: Some(Bytes(8 << 20)),
        ..Settings::default()
    };
    let can = driver.capabilities();
    let none = settings(Durability::None);
    let small = |name: &str| {
        let mut options = profile(name, version);
        options.set("write_buffer_size", "65536");
        options.set("target_file_size_base", "65536");
        options
    };
    let leveled = small("rocksdb-leveled");
    engine::conformance::battery(driver, &none, &leveled);
    engine::conformance::battery(driver, &settings(Durability::Os), &leveled);
    engine::conformance::battery(driver, &none, &small("rocksdb-universal"));
    engine::conformance::battery(driver, &none, &profile("rocksdb-stock", version));
    if can.has("blob") {
        engine::conformance::battery(driver, &none, &small("rocksdb-blob"));
    }
    if can.has("hyper_clock") {
        let mut options = leveled.clone();
        options.set("assay.cache", "hyper_clock");
        engine::conformance::battery(driver, &none, &options);
    }
    if can.has("batched_multi_get") {
        let mut options = leveled.clone();
        options.set("assay.multi_get", "batched");
        engine::conformance::battery(driver, &none, &options);
    }
    assert!(can.has(DIRECT_IO));
}

macro_rules! releases {
    ($($test:ident: $version:literal,)*) => { $(
        #[test]
        fn $test() {
            on_release($version, stringify!($test), |driver| conforms(driver, $version));
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
