//! Refusals, exact counts and maintenance of an open engine.

use std::path::Path;

use engine::{Driver, Engine, EngineError, Maintenance, OpenSpec, Refusal, Rows};
use model::{Bytes, DataShape, Durability, EngineState, Op, Options, Outcome, Settings};
use tempfile::TempDir;

use crate::release::{on_release, profile};

const OLDEST: &str = "5.18.4";
const NEWEST: &str = "11.8.1";

pub(crate) fn spec(dir: &Path, options: Options) -> OpenSpec {
    OpenSpec {
        options,
        ..OpenSpec::embedded(
            dir.to_owned(),
            Settings { cache_bytes: Some(Bytes(8 << 20)), ..Settings::default() },
            DataShape { rows: 1, key_bytes: 20, value_bytes: 100, compressible_to: 1.0 },
        )
    }
}

pub(crate) fn open(driver: &dyn Driver, options: Options) -> (TempDir, Box<dyn Engine>) {
    let dir = tempfile::tempdir().unwrap();
    let engine = driver.open(&spec(dir.path(), options)).unwrap();
    (dir, engine)
}

fn refusal(driver: &dyn Driver, options: &[(&str, &str)]) -> EngineError {
    let dir = tempfile::tempdir().unwrap();
    let options = options.iter().copied().collect();
    match driver.open(&spec(dir.path(), options)) {
        Ok(_) => panic!("opened"),
        Err(error) => error,
    }
}

/// Returns name and reason of the option that is refused.
fn refused_option(driver: &dyn Driver, options: &[(&str, &str)]) -> (String, String) {
    match refusal(driver, options).into() {
        Refusal::Option { name, reason, .. } | Refusal::Capability { option: name, reason } => {
            (name, reason)
        }
        other @ (Refusal::Setting { .. } | Refusal::Build { .. } | Refusal::Statement { .. }) => {
            panic!("{options:?}: {other:?}")
        }
    }
}

/// Returns options that flush and compact a few megabytes many times.
pub(crate) fn small_files() -> Options {
    [
        ("write_buffer_size", "262144"),
        ("target_file_size_base", "262144"),
        ("max_bytes_for_level_base", "1048576"),
        ("compression", "kNoCompression"),
    ]
    .into_iter()
    .collect()
}

/// Puts rows in an order that makes every file overlap the others.
pub(crate) fn put(engine: &dyn Engine, rows: u64) {
    let mut session = engine.session().unwrap();
    let mut answer = Rows::new();
    for n in 0..rows {
        let key = format!("{:020}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15) % rows);
        // Distinct values, so that they do not compress well by accident.
        let value = format!("{n:0100}");
        let op = Op::Put { key: key.as_bytes(), value: value.as_bytes() };
        assert_eq!(session.execute(&op, &mut answer).unwrap(), Outcome::Done);
    }
}

/// Waits until the engine reports idle.
pub(crate) fn settle(engine: &dyn Engine) -> EngineState {
    for _ in 0..60_000 {
        let state = engine.state().unwrap();
        if state.is_idle == Some(true) {
            return state;
        }
        pause();
    }
    panic!("never idle: {:?}", engine.state());
}

#[expect(clippy::disallowed_methods, reason = "a test waits for the engine's threads")]
fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(1));
}

pub(crate) fn reading(state: &EngineState, name: &str) -> u64 {
    let value = *state.readings.get(name).unwrap_or_else(|| panic!("no {name}: {state:?}"));
    #[expect(clippy::cast_possible_truncation, reason = "counts of a test are small")]
    #[expect(clippy::cast_sign_loss, reason = "counts are not negative")]
    let value = value as u64;
    value
}

macro_rules! tests {
    ($($test:ident on $version:ident: $body:expr;)*) => { $(
        #[test]
        fn $test() {
            on_release($version, concat!("behaviour::", stringify!($test)), $body);
        }
    )* };
}

tests! {
    a_refused_option_is_named_in_the_oldest_release on OLDEST: a_refused_option_is_named;
    a_refused_option_is_named_in_the_newest_release on NEWEST: a_refused_option_is_named;
    bytes_are_exact_in_the_oldest_release on OLDEST: bytes_are_exact;
    bytes_are_exact_in_the_newest_release on NEWEST: bytes_are_exact;
    blobs_are_counted_once on NEWEST: blob_sums;
    options_read_back_in_the_oldest_release on OLDEST: lru_reads_back;
    options_read_back_in_the_newest_release on NEWEST: lru_reads_back;
    a_hyper_clock_cache_reads_back_and_is_used on NEWEST: hyper_clock_reads_back;
    level0_is_emptied_and_options_stay_in_the_oldest_release on OLDEST: level0_is_emptied;
    level0_is_emptied_and_options_stay_in_the_newest_release on NEWEST: level0_is_emptied;
    idle_is_reached_without_automatic_compaction on OLDEST: idle_is_reached;
    direct_io_works_on_a_disk on NEWEST: direct_io_works;
}

fn a_refused_option_is_named(driver: &dyn Driver) {
    for (option, value) in [
        ("write_buffer_size", "hello"),
        ("nosuch_option", "1"),
        ("block_based_table_factory.nosuch_option", "1"),
        ("block_size", "4096"),
    ] {
        let requested = [("max_background_jobs", "2"), (option, value), ("num_levels", "7")];
        let (named, reason) = refused_option(driver, &requested);
        assert_eq!(named, option);
        assert!(reason.starts_with("Invalid argument"), "{reason}");
    }
    // Accepted as a value and refused when the database is opened.
    let requested = [("num_levels", "7"), ("compression", "kXpressCompression")];
    let (named, reason) = refused_option(driver, &requested);
    assert_eq!(named, "compression");
    assert!(reason.to_lowercase().contains("xpress"), "{reason}");
}

/// Goal: flush and compaction bytes are exact, and no flush is counted as compaction.
/// Method: the driver's counts, read from the LOG, against the engine's tickers, which are exact,
/// and against its printed totals within their resolution.
fn bytes_are_exact(driver: &dyn Driver) {
    let mut options = small_files();
    options.set("assay.statistics", "on");
    let (_dir, engine) = open(driver, options);
    put(&*engine, 40_000);
    assert!(engine.maintain(Maintenance::Flush).unwrap());
    settle(&*engine);
    assert!(engine.maintain(Maintenance::CompactAll).unwrap());
    let state = settle(&*engine);
    let own = |name: &str| state.own_counters[name];
    let (flush, compaction) = (
        reading(&state, "engine_flush_write_bytes"),
        reading(&state, "engine_compaction_write_bytes"),
    );
    assert_eq!(reading(&state, "engine_ingest_bytes"), 40_000 * 120);
    close_to(flush, own("rocksdb.flush.write.bytes"), 0.001);
    close_to(compaction, own("rocksdb.compact.write.bytes"), 0.0);
    let read = reading(&state, "engine_compaction_read_bytes");
    close_to(read, own("rocksdb.compact.read.bytes"), 0.01);
    close_to(reading(&state, "engine_wal_write_bytes"), 40_000.0 * 135.0, 0.0);
    assert_eq!(reading(&state, "engine_blob_write_bytes"), 0);
    let text = engine.statistics_text().unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("Cumulative compaction: ")).unwrap();
    let printed: f64 = line.split(' ').next().unwrap().parse().unwrap();
    // The engine's "cumulative compaction" contains the flushes, in GB with two decimals.
    let both = (flush + compaction) as f64 / f64::from(1 << 30);
    assert!((printed - both).abs() < 0.0051, "{line} against {both}");
    assert!(reading(&state, "engine_disk_bytes") > 0);
    close_to(40_000, own("rocksdb.number.keys.written"), 0.0);
    engine.close().unwrap();
}

#[track_caller]
fn close_to(found: u64, expected: f64, tolerance: f64) {
    let found = found as f64;
    assert!(found > 0.0 && (found - expected).abs() <= expected * tolerance, "{found}, {expected}");
}

/// Goal: the three sums of bytes written add up to all files, blobs among them, once.
/// Method: the sums against tickers, of which flush and compaction contain the blobs.
fn blob_sums(driver: &dyn Driver) {
    let mut options = small_files();
    options.set("enable_blob_files", "true");
    options.set("enable_blob_garbage_collection", "true");
    options.set("assay.statistics", "on");
    let (_dir, engine) = open(driver, options);
    put(&*engine, 40_000);
    engine.maintain(Maintenance::Flush).unwrap();
    engine.maintain(Maintenance::CompactAll).unwrap();
    let state = settle(&*engine);
    let own = |name: &str| state.own_counters[name];
    let blob = reading(&state, "engine_blob_write_bytes");
    close_to(blob, own("rocksdb.blobdb.blob.file.bytes.written"), 0.0);
    let sum = reading(&state, "engine_flush_write_bytes")
        + reading(&state, "engine_compaction_write_bytes")
        + blob;
    close_to(sum, own("rocksdb.flush.write.bytes") + own("rocksdb.compact.write.bytes"), 0.001);
    assert!(!state.readings.contains_key("engine_live_bytes"), "the estimate leaves blobs out");
    assert!(reading(&state, "engine_blob_files") > 0);
    let (bytes, garbage) =
        (reading(&state, "engine_blob_bytes"), reading(&state, "engine_blob_garbage_bytes"));
    assert!(garbage < bytes && bytes <= blob, "{garbage}, {bytes}, {blob}");
    engine.close().unwrap();
}

/// Returns whether an option of the leveled profile reads back changed.
fn is_rewritten(name: &str, version: &str) -> bool {
    // Consumed by the driver, and 5.18 writes the name of the filter's class.
    name == "assay.default_compression"
        || (version == OLDEST && name == "block_based_table_factory.filter_policy")
}

/// Goal: the engine reports the requested options as in force.
fn reads_back(driver: &dyn Driver, version: &str, extra: &[(&str, &str)]) -> Options {
    let mut options = profile("rocksdb-leveled", version);
    extra.iter().for_each(|(name, value)| options.set(*name, *value));
    let (_dir, engine) = open(driver, options.clone());
    let effective = engine.effective_options().unwrap();
    let mut checked = 0;
    for (name, value) in options.iter().filter(|(name, _)| !is_rewritten(name, version)) {
        let found = effective.get(name).unwrap_or_else(|| panic!("{name} is not read back"));
        // The engine writes fractions with six digits.
        let as_number = |text: &str| text.parse::<f64>().ok().map(f64::to_bits);
        let is_same =
            found == value || as_number(found).is_some_and(|n| Some(n) == as_number(value));
        assert!(is_same, "{name}: requested {value}, found {found}");
        checked += 1;
    }
    assert!(checked > 5, "{checked} options");
    assert_eq!(effective.get("compression"), Some("kNoCompression"));
    let capacity = effective.get("block_based_table_factory.block_cache_options.capacity");
    assert_eq!(capacity, Some("8388608"));
    engine.close().unwrap();
    effective
}

fn lru_reads_back(driver: &dyn Driver) {
    let version = if driver.capabilities().has("blob") { NEWEST } else { OLDEST };
    let effective = reads_back(driver, version, &[]);
    let kind = effective.get("block_based_table_factory.block_cache_name");
    assert_eq!(kind, Some("LRUCache"));
    for name in ["rocksdb-universal", "rocksdb-stock"] {
        let (_dir, engine) = open(driver, profile(name, version));
        let style = engine.effective_options().unwrap();
        let is_universal = style.get("compaction_style") == Some("kCompactionStyleUniversal");
        assert_eq!(is_universal, name == "rocksdb-universal");
        engine.close().unwrap();
    }
}

/// Goal: a cache made through the C API survives the option string that names table options.
/// Method: read its name from the LOG, and rows through it.
fn hyper_clock_reads_back(driver: &dyn Driver) {
    let extra = [("assay.cache", "hyper_clock"), ("assay.cache_shard_bits", "2")];
    let effective = reads_back(driver, NEWEST, &extra);
    let kind = effective.get("block_based_table_factory.block_cache_name");
    assert_eq!(kind, Some("AutoHyperClockCache"));
    let options: Options = extra.into_iter().chain([("assay.statistics", "on")]).collect();
    let (_dir, engine) = open(driver, options);
    put(&*engine, 10_000);
    engine.maintain(Maintenance::Flush).unwrap();
    let before = reading(&engine.state().unwrap(), "engine_cache_bytes");
    let (mut session, mut rows) = (engine.session().unwrap(), Rows::new());
    let op = Op::Scan { start: b"0", limit: 10_000, direction: model::Direction::Forward };
    session.execute(&op, &mut rows).unwrap();
    drop(session);
    let state = engine.state().unwrap();
    assert!(reading(&state, "engine_cache_bytes") > before + 100_000, "{state:?}");
    assert!(reading(&state, "engine_cache_misses") > 10);
    engine.close().unwrap();
}

/// Goal: level 0 is emptied without a lasting change of options.
/// Method: two files below the profile's trigger, then the maintenance, then a sample.
fn level0_is_emptied(driver: &dyn Driver) {
    let (_dir, engine) = open(driver, Options::new());
    let before = engine.effective_options().unwrap();
    assert!(!engine.maintain(Maintenance::CompactLevel0).unwrap(), "nothing to do");
    for _ in 0..2 {
        put(&*engine, 1_000);
        engine.maintain(Maintenance::Flush).unwrap();
    }
    assert_eq!(reading(&settle(&*engine), "engine_l0_files"), 2);
    assert!(engine.maintain(Maintenance::CompactLevel0).unwrap());
    let state = settle(&*engine);
    assert_eq!(reading(&state, "engine_l0_files"), 0);
    let files = |state: &EngineState| state.levels.iter().flatten().map(|shape| shape.files).sum();
    let below: u64 = files(&state);
    assert!(below > 0, "{state:?}");
    assert_eq!(engine.effective_options().unwrap(), before);
    // The options changed, and changed back: the files they were in are gone.
    let texts = engine.own_files().into_iter().map(|file| std::fs::read_to_string(file).unwrap());
    let texts: Vec<_> = texts.collect();
    let (log, options) = (&texts[0], &texts[1]);
    assert!(log.contains("RocksDB version") && options.contains("[DBOptions]"), "{texts:?}");
    engine.close().unwrap();
}

/// Goal: pending work that is never picked does not keep the engine busy for ever.
fn idle_is_reached(driver: &dyn Driver) {
    let mut options = small_files();
    options.set("disable_auto_compactions", "true");
    options.set("level0_slowdown_writes_trigger", "1000");
    options.set("level0_stop_writes_trigger", "1000");
    let (_dir, engine) = open(driver, options);
    put(&*engine, 20_000);
    engine.maintain(Maintenance::Flush).unwrap();
    assert!(!engine.maintain(Maintenance::CompactLevel0).unwrap(), "compaction is off");
    let state = settle(&*engine);
    assert!(reading(&state, "engine_l0_files") > 4, "{state:?}");
    engine.close().unwrap();
}

fn direct_io_works(driver: &dyn Driver) {
    // The usual place for scratch files may be in memory, where there is no direct IO.
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut spec = spec(dir.path(), profile("rocksdb-leveled", NEWEST));
    spec.settings.direct_io = true;
    spec.settings.durability = Durability::Sync;
    let engine = driver.open(&spec).unwrap();
    let effective = engine.effective_options().unwrap();
    assert_eq!(effective.get("use_direct_reads"), Some("true"));
    assert_eq!(effective.get("use_direct_io_for_flush_and_compaction"), Some("true"));
    put(&*engine, 20);
    engine.maintain(Maintenance::Flush).unwrap();
    let mut rows = Rows::new();
    let key = format!("{:020}", 0);
    let op = Op::Get { key: key.as_bytes() };
    assert_eq!(engine.session().unwrap().execute(&op, &mut rows).unwrap(), Outcome::Done);
    engine.close().unwrap();
}
