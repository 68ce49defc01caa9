//! The conformance battery on the linked redb.
//!
//! The battery covers class `sync` by reopening, and runs the rest on the class given here.

use engine::conformance::battery;
use model::{Durability, Options, Settings};

fn settings(durability: Durability) -> Settings {
    Settings { durability, ..Settings::default() }
}

#[test]
fn class_none_conforms() {
    battery(&*driver_redb::driver(), &settings(Durability::None), &Options::new());
}

#[test]
fn class_os_conforms() {
    battery(&*driver_redb::driver(), &settings(Durability::Os), &Options::new());
}

/// Class `none` for most of it, as quick repair is slow; reopening goes through all classes.
#[test]
fn quick_repair_with_a_small_cache_conforms() {
    let options = [("quick_repair", "true"), ("cache_size", "1MiB")].into_iter().collect();
    battery(&*driver_redb::driver(), &settings(Durability::None), &options);
}
