//! Loading of library files, and their identity.

use std::fs;
use std::path::{Path, PathBuf};

use engine::{Driver, Engine, EngineError, OpenSpec};
use model::capability::Feature;
use model::{DataShape, Options, Settings};
use tempfile::TempDir;

use crate::release::{on_library, on_release};

const OLDEST: &str = "5.18.4";
const NEWEST: &str = "11.8.1";

fn open(driver: &dyn Driver, options: Options) -> Result<(TempDir, Box<dyn Engine>), EngineError> {
    let dir = tempfile::tempdir().unwrap();
    let spec = OpenSpec {
        options,
        ..OpenSpec::embedded(
            dir.path().to_owned(),
            Settings::default(),
            DataShape { rows: 1, key_bytes: 20, value_bytes: 100, compressible_to: 1.0 },
        )
    };
    driver.open(&spec).map(|engine| (dir, engine))
}

fn refusal(driver: &dyn Driver, options: &[(&str, &str)]) -> EngineError {
    let Err(error) = open(driver, options.iter().copied().collect()) else { panic!("opened") };
    error
}

#[test]
fn hyper_clock_needs_8_1() {
    on_release(OLDEST, "loading::hyper_clock_needs_8_1", needs_are_reported);
}

#[test]
fn second_library_is_refused() {
    on_release(NEWEST, "loading::second_library_is_refused", second_library);
}

#[test]
fn the_build_is_identified_in_the_oldest_release() {
    on_release(
        OLDEST,
        "loading::the_build_is_identified_in_the_oldest_release",
        identity_is_reported,
    );
}

#[test]
fn the_build_is_identified_in_the_newest_release() {
    on_release(
        NEWEST,
        "loading::the_build_is_identified_in_the_newest_release",
        identity_is_reported,
    );
}

fn needs_are_reported(driver: &dyn Driver) {
    let error = refusal(driver, &[("assay.cache", "hyper_clock")]);
    let reason = "a HyperClock block cache needs RocksDB 8.1";
    assert_eq!(error, EngineError::capability("assay.cache", reason));
    let error = refusal(driver, &[("assay.multi_get", "batched")]);
    assert!(error.to_string().contains("needs 7.3"), "{error}");
    let lru = ("assay.cache", "lru");
    let error = refusal(driver, &[lru, ("assay.cache_low_priority_share", "0.2")]);
    assert!(error.to_string().contains("needs RocksDB 7.6"), "{error}");
    let error = refusal(driver, &[lru, ("assay.blob_cache", "shared")]);
    assert!(error.to_string().contains("needs RocksDB 7.4"), "{error}");
    let features = driver.capabilities().features;
    assert_eq!(features["hyper_clock"], Feature::No("needs 8.1".to_owned()));
    assert_eq!(features["blob"], Feature::No("needs 6.20".to_owned()));
    assert_eq!(features["compression"], Feature::Yes);
}

fn second_library(driver: &dyn Driver) {
    let first = PathBuf::from(driver.identity().origin);
    assert!(driver_rocksdb::open_library(&first).is_ok(), "the same library is accepted again");
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("librocksdb.so");
    fs::copy(&first, &copy).unwrap();
    let Err(error) = driver_rocksdb::open_library(&copy) else { panic!("took a second library") };
    assert!(error.to_string().contains("a second engine library in one process"), "{error}");
}

fn identity_is_reported(driver: &dyn Driver) {
    let before = driver.identity();
    assert_eq!(before.sha256.as_ref().map(String::len), Some(64));
    let (_dir, engine) = open(driver, Options::new()).unwrap();
    let after = engine.identity();
    let is_old = after.version == OLDEST;
    assert!(is_old || after.version == NEWEST, "{}", after.version);
    assert_eq!(before.version, if is_old { ">=5.18 <6.3" } else { ">=11.8" });
    let names: Vec<&str> = after.facts.keys().map(String::as_str).collect();
    for name in ["compile_date", "compression", "fast_crc32"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(after.facts["compression"].contains("ZSTD"));
    assert_eq!(after.facts.contains_key("known_defect"), is_old);
    engine.close().unwrap();
}

#[test]
fn unloadable_file_is_named_with_the_reason() {
    let test = "loading::unloadable_file_is_named_with_the_reason";
    on_library(NEWEST, test, |library| {
        let dir = tempfile::tempdir().unwrap();
        let reason = |name: &str, image: &[u8]| {
            let path = dir.path().join(name);
            fs::write(&path, image).unwrap();
            match driver_rocksdb::open_library(&path) {
                Ok(_) => panic!("loaded {name}"),
                Err(error) => error.to_string(),
            }
        };
        let mut image = fs::read(library).unwrap();
        image[18] = if image[18] == 183 { 62 } else { 183 };
        let text = reason("other.so", &image);
        assert!(text.contains("was built for") && text.contains("this program runs on"), "{text}");
        assert!(reason("text.so", b"#!/bin/sh\n").contains("not a shared library"));
        image[18] = if image[18] == 183 { 62 } else { 183 };
        image.truncate(4096);
        assert!(reason("truncated.so", &image).contains("is truncated"));
        let absent = driver_rocksdb::open_library(&dir.path().join("absent.so"));
        assert!(absent.is_err_and(|error| error.to_string().contains("absent.so")));
        // The good library still loads after the failures.
        driver_rocksdb::open_library(library).expect("the library of a release loads");
    });
}

#[test]
fn other_library_is_not_rocksdb() {
    let test = "loading::other_library_is_not_rocksdb";
    on_library(NEWEST, test, |_| {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let other = maps.lines().filter_map(|line| line.split_whitespace().last());
        let libc = other.filter(|path| path.contains("/libc")).find(|path| path.contains(".so"));
        let libc = libc.expect("a program of Rust loads a libc");
        let Err(error) = driver_rocksdb::open_library(Path::new(libc)) else { panic!("loaded") };
        assert!(error.to_string().contains("is not RocksDB"), "{error}");
    });
}
