//! The conformance battery on the linked LMDB.
//!
//! The battery covers class `sync` by reopening, and runs the rest on the class given here.

use engine::conformance::battery;
use model::{Durability, Options, Settings};

fn settings(durability: Durability) -> Settings {
    Settings { durability, ..Settings::default() }
}

#[test]
fn class_none_conforms() {
    // What the battery checks only where a driver states it.
    let can = driver_lmdb::driver().capabilities();
    assert_eq!((can.key_bytes_max, can.value_bytes_max), (Some(511), Some(u32::MAX)));
    battery(&*driver_lmdb::driver(), &settings(Durability::None), &Options::new());
}

#[test]
fn class_os_conforms() {
    battery(&*driver_lmdb::driver(), &settings(Durability::Os), &Options::new());
}

#[test]
fn the_write_map_conforms() {
    let options = [("MDB_WRITEMAP", "true"), ("MDB_NORDAHEAD", "true")].into_iter().collect();
    battery(&*driver_lmdb::driver(), &settings(Durability::Os), &options);
}
