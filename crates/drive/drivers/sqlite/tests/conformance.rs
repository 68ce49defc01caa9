//! The conformance battery on the linked SQLite.
//!
//! The battery covers class `sync` by reopening, and runs the rest on the class given here.

use engine::conformance::battery;
use model::{Durability, Options, Settings};

fn settings(durability: Durability) -> Settings {
    Settings { durability, ..Settings::default() }
}

#[test]
fn class_none_conforms() {
    battery(&*driver_sqlite::driver(), &settings(Durability::None), &Options::new());
}

#[test]
fn class_os_conforms() {
    battery(&*driver_sqlite::driver(), &settings(Durability::Os), &Options::new());
}

#[test]
fn rowid_table_with_large_pages_conforms() {
    let options = [("assay.table", "rowid"), ("page_size", "16384"), ("mmap_size", "67108864")];
    let options = options.into_iter().collect();
    battery(&*driver_sqlite::driver(), &settings(Durability::Os), &options);
}
