//! Conformance and behaviour of every cached SplinterDB build.
//!
//! Each build runs in a child process; without a build, tests print `skipped: REASON`.

#![expect(clippy::unwrap_used, reason = "an unwrap in a helper fails the test")]

use std::env;
use std::path::{Path, PathBuf};

use driver_splinterdb::open_library;
use engine::conformance::{Absent, TestRun, battery, on_library};
use engine::{Driver, Engine, EngineError, Maintenance, OpenSpec, Rows, scans_in_reverse};
use model::{Bytes, DataShape, Direction, Durability, Op, Options, Settings};
use supply::{Store, default_cache_dir};

/// Small memtables: the battery's few rows pass through them. Builds of 2022 abort with them.
const SMALL: (&str, &str) = ("memtable_capacity", "1MiB");

/// Runs `body` on every build in the cache.
fn on_builds(test: &str, body: fn(&dyn Driver)) {
    let load = |path: &Path| body(&*open_library(path).expect("the build loads"));
    let builds = builds();
    if builds.is_empty() {
        let reason = "no build of SplinterDB is cached: compile one from its source, then \
                      `assay engine add splinterdb build/release/lib/libsplinterdb.so`";
        on_library(test, || Err(Absent::Optional(reason.to_owned())), load);
    }
    for library in builds {
        if on_library(test, || Ok(library), load) == TestRun::Here {
            break;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test has no program that reads it first")]
fn builds() -> Vec<PathBuf> {
    let (home, xdg) = (env::var("HOME").ok(), env::var("XDG_CACHE_HOME").ok());
    let dir = default_cache_dir(home.as_deref(), xdg.as_deref());
    let Some(store) = dir.and_then(|dir| Store::open(dir).ok()) else { return Vec::new() };
    let cached = store.list().into_iter().filter(|build| build.build.engine == "splinterdb");
    cached.map(|build| build.library).collect()
}

/// Returns whether a build has background threads (December 2022 and newer).
fn has_threads(driver: &dyn Driver) -> bool {
    driver.identity().facts["options"].contains("num_normal_bg_threads")
}

fn settings() -> Settings {
    Settings {
        durability: Durability::None,
        cache_bytes: Some(Bytes(96 << 20)),
        ..Settings::default()
    }
}

fn spec(dir: &Path, options: &[(&str, &str)]) -> OpenSpec {
    OpenSpec {
        options: options.iter().copied().collect(),
        ..OpenSpec::embedded(
            dir.to_owned(),
            settings(),
            DataShape { rows: 1000, key_bytes: 20, value_bytes: 100, compressible_to: 0.5 },
        )
    }
}

/// Goal: every build gives right answers, with and without its own threads and statistics.
#[test]
fn every_build_conforms() {
    on_builds("every_build_conforms", |driver| {
        battery(driver, &settings(), &Options::new());
        battery(driver, &Settings { direct_io: true, ..settings() }, &Options::new());
        if has_threads(driver) {
            let small: Options = [SMALL, ("use_stats", "1")].into_iter().collect();
            battery(driver, &settings(), &small);
            battery(driver, &Settings { background_jobs: Some(4), ..settings() }, &small);
        }
    });
}

/// Goal: oversized keys and values are refused with the limit.
#[test]
fn oversized_rows_are_refused_with_the_limit() {
    on_builds("oversized_rows_are_refused_with_the_limit", |driver| {
        let can = driver.capabilities();
        let dir = tempfile::tempdir().unwrap();
        let engine = driver.open(&spec(dir.path(), &[])).unwrap();
        let (mut session, mut rows) = (engine.session().unwrap(), Rows::new());
        let most = usize::try_from(can.key_bytes_max.unwrap()).unwrap();
        let key = vec![b'k'; most + 9];
        let error = session.execute(&Op::Put { key: &key, value: b"" }, &mut rows).unwrap_err();
        assert!(error.to_string().contains(&format!("takes {most} at most")), "{error}");
        let value = vec![b'v'; 2000];
        let put = session.execute(&Op::Put { key: b"k", value: &value }, &mut rows);
        match can.value_bytes_max {
            None => assert!(put.is_ok()),
            Some(most) => {
                let error = put.unwrap_err().to_string();
                assert!(error.contains(&format!("takes {most} at most")), "{error}");
            }
        }
        let down = Op::Scan { start: b"k", limit: 1, direction: Direction::Reverse };
        let down = session.execute(&down, &mut rows);
        match scans_in_reverse(&can) {
            true => assert!(down.is_ok(), "{down:?}"),
            false => assert!(matches!(down, Err(EngineError::Unsupported(_))), "{down:?}"),
        }
        drop(session);
        engine.close().unwrap();
    });
}

/// Goal: settings and options are in force, and the engine's output stays out of stdout.
#[test]
fn options_are_in_force_and_statistics_are_read() {
    on_builds("options_are_in_force_and_statistics_are_read", |driver| {
        let dir = tempfile::tempdir().unwrap();
        let small = if has_threads(driver) { SMALL } else { ("fanout", "8") };
        let mut requested = spec(dir.path(), &[small, ("use_stats", "1")]);
        requested.settings.direct_io = true;
        let engine = driver.open(&requested).unwrap();
        let options = engine.effective_options().unwrap();
        assert_eq!(options.get("cache_size"), Some("100663296"));
        assert_eq!(options.get("fanout"), Some("8"));
        assert_eq!(options.get("io_flags"), Some("O_RDWR|O_CREAT|O_DIRECT"));
        fill(&*engine, 40_000);
        let is_flushed = engine.maintain(Maintenance::Flush).unwrap();
        engine.maintain(Maintenance::CompactAll).unwrap();
        let state = engine.state().unwrap();
        assert_eq!(state.is_idle, Some(true));
        if let Some(text) = engine.statistics_text() {
            assert!(text.contains("Cache Statistics"), "{text}");
            let written = state.readings["engine_page_write_bytes"];
            assert!(!is_flushed || written >= 4_000_000.0, "{written}");
            assert_eq!(state.readings.get("engine_wal_write_bytes"), Some(&0.0));
            assert!(state.readings["engine_cache_hits"] > 40_000.0, "{state:?}");
            assert!(state.own_counters.contains_key("pages written: branch"), "{state:?}");
        } else {
            println!("skipped in part: this build prints no statistics");
        }
        let logs = engine.own_files();
        assert_eq!(logs, [dir.path().join("splinterdb.log")]);
        engine.close().unwrap();
    });
}

fn fill(engine: &dyn Engine, rows: u64) {
    let (mut session, mut answer) = (engine.session().unwrap(), Rows::new());
    for row in 0..rows {
        let key = format!("{:020}", row.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let put = Op::Put { key: key.as_bytes(), value: &[7; 100] };
        session.execute(&put, &mut answer).unwrap();
    }
}

/// Goal: clients beyond the engine's limit are refused without a crash.
#[test]
fn clients_beyond_the_limit_are_refused() {
    on_builds("clients_beyond_the_limit_are_refused", |driver| {
        let dir = tempfile::tempdir().unwrap();
        let engine = driver.open(&spec(dir.path(), &[])).unwrap();
        let (engine, clients) = (&*engine, 70);
        let start = std::sync::Barrier::new(clients);
        let refused: Vec<Option<String>> = std::thread::scope(|scope| {
            let begin = || {
                let session = engine.session();
                start.wait();
                session.err().map(|error| error.to_string())
            };
            let threads: Vec<_> = (0..clients).map(|_| scope.spawn(begin)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let refused: Vec<String> = refused.into_iter().flatten().collect();
        assert!(refused.len() >= clients - 64, "{refused:?}");
        assert!(refused[0].contains("64 threads at most"), "{refused:?}");
    });
}
