//! The LMDB driver on the distribution's library.

use std::path::Path;

use engine::conformance::{battery, distribution_library, on_library, survives_process_crash};
use engine::{Driver, OpenSpec};
use model::{DataShape, Durability, Options, Settings};

/// Runs `body` on the distribution's library; `test` is the calling test's name.
fn on_system(test: &str, body: impl FnOnce(&Path)) {
    on_library(test, || distribution_library("liblmdb.so.0", "liblmdb0"), body);
}

fn load(path: &Path) -> Box<dyn Driver> {
    driver_lmdb::open_library(path).expect("the distribution's library loads")
}

fn settings(durability: Durability) -> Settings {
    Settings { durability, ..Settings::default() }
}

#[test]
fn distribution_library_conforms() {
    on_system("distribution_library_conforms", |path| {
        let driver = load(path);
        battery(&*driver, &settings(Durability::Os), &Options::new());
        let mapped = [("MDB_WRITEMAP", "true"), ("MDB_NORDAHEAD", "true")].into_iter().collect();
        battery(&*driver, &settings(Durability::None), &mapped);
        survives_process_crash(&*driver);
    });
}

/// Goal: the identity is the library's, before and after open, not the linked one's.
#[test]
fn loaded_library_reports_its_identity() {
    on_system("loaded_library_reports_its_identity", |path| {
        let (loaded, linked) = (load(path), driver_lmdb::driver());
        let identity = loaded.identity();
        assert!(Path::new(&identity.origin).is_absolute(), "{identity:?}");
        assert_eq!(identity.sha256.as_ref().map(String::len), Some(64));
        assert_ne!(identity.version, linked.identity().version);
        assert_eq!(linked.identity().sha256, None);
        let dir = tempfile::tempdir().unwrap();
        let data = DataShape { rows: 1000, key_bytes: 4, value_bytes: 400, compressible_to: 0.5 };
        let (settings, options) = (settings(Durability::Os), Options::new());
        let spec =
            OpenSpec { options, ..OpenSpec::embedded(dir.path().to_owned(), settings, data) };
        let engine = loaded.open(&spec).unwrap();
        assert_eq!(engine.identity(), identity);
        engine.close().unwrap();
    });
}

#[test]
fn other_library_is_not_lmdb() {
    on_system("other_library_is_not_lmdb", |_| {
        let other = distribution_library("libz.so.1", "zlib1g").expect("every system has it");
        let Err(error) = driver_lmdb::open_library(&other) else { panic!("loaded") };
        let text = error.to_string();
        assert!(text.ends_with("is not LMDB: it lacks `mdb_env_create`"), "{text}");
    });
}
