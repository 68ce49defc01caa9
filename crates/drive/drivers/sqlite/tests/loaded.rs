//! The SQLite driver on the distribution's library.

use std::path::Path;

use engine::conformance::{battery, distribution_library, on_library, survives_process_crash};
use engine::{Driver, Engine, OpenSpec, Rows};
use model::{DataShape, Durability, Op, Options, Settings};

/// Runs `body` on the distribution's library; `test` is the calling test's name.
fn on_system(test: &str, body: impl FnOnce(&Path)) {
    on_library(test, || distribution_library("libsqlite3.so.0", "libsqlite3-0"), body);
}

fn load(path: &Path) -> Box<dyn Driver> {
    driver_sqlite::open_library(path).expect("the distribution's library loads")
}

fn settings(durability: Durability) -> Settings {
    Settings { durability, ..Settings::default() }
}

fn open(driver: &dyn Driver, dir: &Path) -> Box<dyn Engine> {
    let data = DataShape { rows: 1000, key_bytes: 4, value_bytes: 400, compressible_to: 0.5 };
    let (dir, settings, options) = (dir.to_owned(), settings(Durability::Os), Options::new());
    driver
        .open(&OpenSpec { options, ..OpenSpec::embedded(dir, settings, data) })
        .expect("the directory is good")
}

#[test]
fn distribution_library_conforms() {
    on_system("distribution_library_conforms", |path| {
        let driver = load(path);
        battery(&*driver, &settings(Durability::None), &Options::new());
        battery(&*driver, &settings(Durability::Os), &Options::new());
        survives_process_crash(&*driver);
    });
}

/// Goal: the identity is the library's, before and after open, not the linked one's.
#[test]
fn loaded_library_reports_its_identity() {
    on_system("loaded_library_reports_its_identity", |path| {
        let (loaded, linked) = (load(path), driver_sqlite::driver());
        let identity = loaded.identity();
        assert!(Path::new(&identity.origin).is_absolute(), "{identity:?}");
        assert_eq!(identity.sha256.as_ref().map(String::len), Some(64));
        assert!(identity.facts["source_id"].starts_with("20"), "{identity:?}");
        assert_ne!(identity.facts["source_id"], linked.identity().facts["source_id"]);
        let dir = tempfile::tempdir().unwrap();
        let engine = open(&*loaded, dir.path());
        assert_eq!(engine.identity(), identity);
        engine.close().unwrap();
    });
}

/// Goal: the counters of a library without `sqlite3_db_status64` are those of the linked one.
/// Method: the same writes on both; about as many cache hits, as far as the releases agree.
#[test]
fn loaded_library_reports_its_counters() {
    on_system("loaded_library_reports_its_counters", |path| {
        let hits = [load(path), driver_sqlite::driver()].map(|driver| {
            let dir = tempfile::tempdir().unwrap();
            let engine = open(&*driver, dir.path());
            let mut session = engine.session().unwrap();
            for row in 0..5000_u32 {
                let op = Op::Put { key: &row.to_be_bytes(), value: &[7; 400] };
                session.execute(&op, &mut Rows::new()).unwrap();
            }
            drop(session);
            let readings = engine.state().unwrap().readings;
            assert!(readings["engine_wal_write_bytes"] > 5000.0 * 4096.0, "{readings:?}");
            engine.close().unwrap();
            readings["engine_cache_hits"]
        });
        assert!((hits[0] / hits[1] - 1.0).abs() < 0.5, "{hits:?}");
    });
}

#[test]
fn other_library_is_not_sqlite() {
    on_system("other_library_is_not_sqlite", |_| {
        let other = distribution_library("libz.so.1", "zlib1g").expect("SQLite's package needs it");
        let Err(error) = driver_sqlite::open_library(&other) else { panic!("loaded") };
        let text = error.to_string();
        assert!(text.ends_with("is not SQLite: it lacks `sqlite3_open_v2`"), "{text}");
    });
}
