//! The conformance battery on WiredTiger, on every available build.

#![expect(clippy::print_stdout, reason = "a test prints its progress")]

mod library;

use engine::Driver;
use engine::conformance::battery;
use model::{Bytes, Durability, Options, Settings};

/// Smallest cache that WiredTiger accepts.
const CACHE: Bytes = Bytes(1 << 20);

fn settings(durability: Durability) -> Settings {
    Settings { durability, ..Settings::default() }
}

fn options(options: &[(&str, &str)]) -> Options {
    options.iter().copied().collect()
}

/// Smallest log files: WiredTiger preallocates them.
const LOG: (&str, &str) = ("log.file_max", "100KB");

/// Goal: the B-tree gives right answers with a log, in its default form.
#[test]
fn the_b_tree_conforms() {
    library::on_every_build("the_b_tree_conforms", |driver| {
        // What the battery checks only where a driver states it.
        assert_eq!(driver.capabilities().value_bytes_max, Some(u32::MAX - 1024));
        battery(driver, &settings(Durability::Os), &options(&[LOG]));
    });
}

/// Goal: the B-tree gives right answers while pages are evicted and read again.
/// Method: the battery with the smallest cache and small pages, without a log.
#[test]
fn the_b_tree_conforms_when_it_does_not_fit_its_cache() {
    library::on_every_build("the_b_tree_conforms_when_it_does_not_fit_its_cache", |driver| {
        let small = Settings { cache_bytes: Some(CACHE), ..settings(Durability::None) };
        battery(driver, &small, &options(&[("leaf_page_max", "4KB"), LOG]));
    });
}

/// Goal: parts of values are changed rightly by reads and writes of the whole too.
#[test]
fn the_b_tree_conforms_without_modify() {
    library::on_every_build("the_b_tree_conforms_without_modify", |driver| {
        let whole = ("assay.value_changes", "read-modify-write");
        battery(driver, &settings(Durability::Os), &options(&[whole, LOG]));
    });
}

/// Goal: the LSM gives right answers where there is one, and is refused where there is none.
/// Method: chunks so small that the battery's rows fill several, which are merged.
#[test]
fn the_lsm_conforms() {
    library::on_every_build("the_lsm_conforms", |driver| {
        let lsm = options(&[("assay.table", "lsm"), ("lsm.chunk_size", "512KB"), LOG]);
        if driver.capabilities().has("lsm") {
            battery(driver, &settings(Durability::Os), &lsm);
        } else {
            let refused = refusal(driver, &lsm);
            assert!(refused.contains("no LSM"), "{refused}");
        }
    });
}

fn refusal(driver: &dyn Driver, options: &Options) -> String {
    let dir = tempfile::tempdir().expect("a directory can be made");
    let opened = driver.open(&engine::OpenSpec {
        options: options.clone(),
        ..engine::OpenSpec::embedded(
            dir.path().to_owned(),
            settings(Durability::Os),
            model::DataShape { rows: 1, key_bytes: 1, value_bytes: 1, compressible_to: 1.0 },
        )
    });
    opened.err().expect("it cannot be opened").to_string()
}
