//! State, options and refusals of the WiredTiger driver.

#![expect(clippy::unwrap_used, reason = "an unwrap in a helper fails the test")]
#![expect(clippy::print_stdout, reason = "a test prints its progress")]

mod library;

use std::fs;
use std::path::Path;
use std::thread;

use engine::conformance::wait_until;
use engine::{Driver, Engine, EngineError, Maintenance, OpenSpec, Refusal, Rows, Setting};
use model::{Bytes, DataShape, Durability, EngineState, Op, Settings};

/// Rows of a fill: 8 MB, more than the cache.
const ROWS: u32 = 20_000;

fn settings() -> Settings {
    let cache_bytes = Some(Bytes(4 << 20));
    Settings { durability: Durability::Os, cache_bytes, ..Settings::default() }
}

fn open(
    driver: &dyn Driver,
    dir: &Path,
    settings: Settings,
    options: &[(&str, &str)],
) -> Result<Box<dyn Engine>, EngineError> {
    driver.open(&OpenSpec {
        options: options.iter().copied().collect(),
        ..OpenSpec::embedded(
            dir.to_owned(),
            settings,
            DataShape { rows: 20_000, key_bytes: 4, value_bytes: 400, compressible_to: 1.0 },
        )
    })
}

fn fill(engine: &dyn Engine) {
    let mut session = engine.session().unwrap();
    for row in 0..ROWS {
        let key = (row.wrapping_mul(7919) % ROWS).to_be_bytes();
        session.execute(&Op::Put { key: &key, value: &[7; 400] }, &mut Rows::new()).unwrap();
    }
}

fn settled(engine: &dyn Engine) -> EngineState {
    let mut state = engine.state().unwrap();
    wait_until(|| {
        state = engine.state().unwrap();
        state.is_idle == Some(true)
    });
    state
}

/// Goal: the metrics are plausible for what was written and read.
#[test]
fn state_reports_pages_cache_and_log() {
    library::on_every_build("state_reports_pages_cache_and_log", |driver| {
        let dir = tempfile::tempdir().unwrap();
        let engine = open(driver, dir.path(), settings(), &[("log.file_max", "1MB")]).unwrap();
        fill(&*engine);
        let put = f64::from(ROWS) * 404.0;
        assert_eq!(engine.maintain(Maintenance::Flush), Ok(true));
        let state = settled(&*engine);
        assert_eq!(state.is_idle, Some(true), "{state:?}");
        let of = |name: &str| state.readings[name];
        assert!(of("engine_page_write_bytes") > put, "{state:?}");
        assert!(of("engine_wal_write_bytes") > put, "{state:?}");
        assert!(of("engine_wal_write_bytes") < 1.6 * put, "{state:?}");
        assert!(of("log_bytes") >= 1e6, "{state:?}");
        assert!(of("engine_cache_bytes") > 1e5 && of("engine_cache_bytes") < 8e6, "{state:?}");
        assert!(of("engine_disk_bytes") > 0.9 * put, "{state:?}");
        assert!(of("engine_fsyncs") > 0.0 && of("engine_cache_misses") > 0.0, "{state:?}");
        assert!(state.tree_height.is_some_and(|height| (2..5).contains(&height)), "{state:?}");
        assert!(state.own_counters.keys().any(|name| name.contains("write I/Os")), "{state:?}");
        let text = engine.statistics_text().unwrap();
        assert!(text.contains("block-manager: bytes written=") && text.contains("btree: "));
        assert_eq!(engine.maintain(Maintenance::CompactLevel0), Ok(false));
        assert_eq!(engine.maintain(Maintenance::CompactAll), Ok(true));
        engine.close().unwrap();
    });
}

/// Goal: a B-tree's modify logs the change alone; an LSM's, and a read and a write, the value.
/// Method: the log's bytes of one change of 10 bytes for each of 1000 rows of 4000 bytes.
#[test]
fn modify_logs_the_change_alone() {
    library::on_every_build("modify_logs_the_change_alone", |driver| {
        let whole = ("assay.value_changes", "read-modify-write");
        let logged = |options: &[(&str, &str)]| {
            let dir = tempfile::tempdir().unwrap();
            let engine = open(driver, dir.path(), settings(), options).unwrap();
            let (mut session, mut rows) = (engine.session().unwrap(), Rows::new());
            let keys: Vec<_> = (0..1000_u32).map(u32::to_be_bytes).collect();
            for key in &keys {
                session.execute(&Op::Put { key, value: &[7; 4000] }, &mut rows).unwrap();
            }
            let bytes = || engine.state().unwrap().readings["engine_wal_write_bytes"];
            let before = bytes();
            for key in &keys {
                let op = Op::PartialUpdate { key, offset: 3000, bytes: &[8; 10] };
                session.execute(&op, &mut rows).unwrap();
            }
            bytes() - before
        };
        let (changes, values) = (logged(&[]), logged(&[whole]));
        assert!(changes < 1e6 && values > 4e6, "{changes} and {values} bytes");
        if driver.capabilities().has("lsm") {
            let in_lsm = logged(&[("assay.table", "lsm"), ("lsm.chunk_size", "512KB")]);
            assert!(in_lsm > 4e6, "{in_lsm} bytes");
        }
    });
}

/// Goal: of changes of one row by several clients none is lost.
/// Method: each client appends a byte 200 times, again after a conflict; the value has every byte.
#[test]
fn no_append_of_several_clients_is_lost() {
    library::on_every_build("no_append_of_several_clients_is_lost", |driver| {
        let dir = tempfile::tempdir().unwrap();
        let engine = open(driver, dir.path(), settings(), &[]).unwrap();
        let (mut session, mut rows) = (engine.session().unwrap(), Rows::new());
        session.execute(&Op::Put { key: b"k", value: b"" }, &mut rows).unwrap();
        let append = || {
            let (mut session, mut rows) = (engine.session().unwrap(), Rows::new());
            let op = Op::Append { key: b"k", bytes: b"x" };
            for _ in 0..200 {
                while let Err(error) = session.execute(&op, &mut rows) {
                    assert!(matches!(error, EngineError::Conflict(_)), "{error}");
                }
            }
        };
        thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(append))));
        rows.clear(true);
        session.execute(&Op::Get { key: b"k" }, &mut rows).unwrap();
        assert_eq!(rows.stored().next(), Some((&b"k"[..], &[b'x'; 800][..])));
    });
}

/// Goal: the configuration in force is read back under the names of options.
#[test]
fn configuration_is_read_back() {
    library::on_every_build("configuration_is_read_back", |driver| {
        let dir = tempfile::tempdir().unwrap();
        let requested =
            [("leaf_page_max", "16KB"), ("eviction.threads_max", "4"), ("checkpoint.wait", "7")];
        let engine = open(driver, dir.path(), settings(), &requested).unwrap();
        let options = engine.effective_options().unwrap();
        for (name, value) in [
            ("leaf_page_max", "16KB"),
            ("eviction.threads_max", "4"),
            ("checkpoint.wait", "7"),
            ("checkpoint.log_size", "2GB"),
            ("log.enabled", "true"),
            ("transaction_sync.method", "none"),
            ("cache_size", "4194304"),
            ("type", "file"),
            ("table.log.enabled", "true"),
            ("memory_page_max", "5MB"),
        ] {
            assert_eq!(options.get(name), Some(value), "{name}: {options:?}");
        }
        engine.close().unwrap();
    });
}

/// Goal: a wrong option is refused by name, with the engine's own message.
#[test]
fn wrong_option_is_refused_by_name() {
    library::on_every_build("wrong_option_is_refused_by_name", |driver| {
        let dir = tempfile::tempdir().unwrap();
        for (name, value, expected) in [
            ("cache_sise", "1GB", "unknown configuration key"),
            ("eviction.threads", "4", "unknown configuration key"),
            ("eviction.threads_max", "1000", "maximum is 20"),
            ("leaf_page_max", "soon", "leaf_page_max"),
            ("table.cache_size", "1GB", "unknown configuration key"),
        ] {
            let error = open(driver, dir.path(), settings(), &[(name, value)]).err().unwrap();
            assert_eq!(error.refused_option(), Some(name));
            assert!(error.to_string().contains(expected), "{error}");
            assert!(!error.to_string().contains("config_check"), "{error}");
        }
        let many = [("eviction.threads_min", "8"), ("eviction.threads_max", "2")];
        let error = open(driver, dir.path(), settings(), &many).err().unwrap().to_string();
        assert!(error.contains("eviction"), "{error}");
        assert!(open(driver, dir.path(), settings(), &[]).unwrap().close().is_ok());
    });
}

/// Goal: an available compressor compresses, a missing one is refused with a remedy.
#[test]
fn compressor_is_found_or_refused() {
    library::on_every_build("compressor_is_found_or_refused", |driver| {
        let dir = tempfile::tempdir().unwrap();
        let requested = Settings { compression: Some("snappy".to_owned()), ..settings() };
        match open(driver, dir.path(), requested, &[]) {
            Ok(engine) => {
                fill(&*engine);
                engine.maintain(Maintenance::Flush).unwrap();
                let bytes = engine.state().unwrap().readings["engine_disk_bytes"];
                assert!(bytes < f64::from(ROWS) * 200.0, "{bytes} bytes");
                engine.close().unwrap();
            }
            Err(error) => {
                let Refusal::Setting { setting, reason, .. } = error.into() else { panic!() };
                assert_eq!(setting, Setting::Compression);
                assert!(reason.contains("extensions = "), "{reason}");
            }
        }
    });
}

/// Returns whether this process has a file below a directory open with `O_DIRECT`.
fn has_direct_file(dir: &Path) -> bool {
    let flag = if cfg!(target_arch = "aarch64") { 0o200_000 } else { 0o40_000 };
    let is_direct = |number: &std::ffi::OsStr| {
        let text = fs::read_to_string(Path::new("/proc/self/fdinfo").join(number));
        let text = text.unwrap_or_default();
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        flags.is_some_and(|flags| flags & flag != 0)
    };
    let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let is_ours = |file: &Path| fs::read_link(file).is_ok_and(|to| to.starts_with(dir));
    open.filter(|file| is_ours(&file.path())).any(|file| is_direct(&file.file_name()))
}

/// Goal: direct IO bypasses the page cache, or is refused.
/// Method: the flags of the files that are open.
#[test]
fn direct_io_is_real_or_refused() {
    library::on_every_build("direct_io_is_real_or_refused", |driver| {
        // The scratch folders of tests may lie in memory, which has no direct IO.
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let requested = Settings { direct_io: true, ..settings() };
        match open(driver, dir.path(), requested, &[]) {
            Ok(engine) => {
                fill(&*engine);
                assert!(has_direct_file(dir.path()));
                engine.close().unwrap();
            }
            Err(error) => assert!(error.to_string().contains("below 12"), "{error}"),
        }
        let error = open(driver, dir.path(), settings(), &[("direct_io", "[data]")]).err();
        match driver.capabilities().has("direct_io") {
            true => assert!(error.is_none(), "{error:?}"),
            false => assert!(error.unwrap().to_string().contains("through the page cache")),
        }
    });
}
