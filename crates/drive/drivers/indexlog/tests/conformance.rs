//! The conformance battery on the index+log engine.
//!
//! The battery covers class `sync` by reopening, and runs the rest on the class given here.

use engine::conformance::battery;
use model::{Durability, Options, Settings};

fn settings(durability: Durability) -> Settings {
    Settings { durability, ..Settings::default() }
}

#[test]
fn class_none_conforms() {
    battery(&*driver_indexlog::driver(), &settings(Durability::None), &Options::new());
}

#[test]
fn class_os_conforms() {
    battery(&*driver_indexlog::driver(), &settings(Durability::Os), &Options::new());
}

/// Small files and caches, so that flushes, compactions and collections run meanwhile.
#[test]
fn small_files_and_caches_conform() {
    let options = [
        ("write_cache_bytes", "64KiB"),
        ("segment_bytes", "128KiB"),
        ("document_cache_bytes", "16KiB"),
        ("block_cache_bytes", "16KiB"),
        ("table_bytes", "4KiB"),
        ("level1_bytes", "16KiB"),
        ("level0_tables", "2"),
        ("compression", "lz4"),
    ];
    let options = options.into_iter().collect();
    battery(&*driver_indexlog::driver(), &settings(Durability::Os), &options);
}
