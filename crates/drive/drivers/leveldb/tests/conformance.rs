//! The conformance battery on LevelDB, on every available library.

#![expect(clippy::print_stdout, reason = "a test prints its progress")]

mod library;

use engine::Driver;
use engine::conformance::battery;
use model::{Bytes, Durability, Options, Settings};

/// Goal: the driver gives right answers with default and with other options.
/// Method: the battery on the defaults, and with a small memtable, so that its few rows pass
/// through flush and compaction, and every optional feature switched on.
#[test]
fn every_build_conforms() {
    library::on_every_build("every_build_conforms", conforms);
}

fn conforms(driver: &dyn Driver) {
    // What the battery checks only where a driver states it.
    assert_eq!(driver.immutable_files(), [".ldb", ".sst"]);
    assert_eq!(driver.capabilities().value_bytes_max, Some(u32::MAX));
    let settings = |durability| Settings { durability, ..Settings::default() };
    battery(driver, &settings(Durability::Os), &Options::new());
    let options = [
        ("write_buffer_size", "64KiB"),
        ("block_size", "1KiB"),
        ("assay.bloom_bits", "10"),
        ("verify_checksums", "true"),
        ("paranoid_checks", "true"),
        ("compression", "none"),
    ];
    let small = Settings { cache_bytes: Some(Bytes(64 << 10)), ..settings(Durability::None) };
    battery(driver, &small, &options.into_iter().collect());
}
