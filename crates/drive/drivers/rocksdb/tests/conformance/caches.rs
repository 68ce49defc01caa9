//! Caches, their priorities, and counts per operation.

use engine::{Driver, Engine, Maintenance, Rows};
use model::{Direction, EngineState, Op, Options};

use crate::behaviour::{open, put, reading, settle, small_files};
use crate::release::on_release;

macro_rules! tests {
    ($($test:ident on $version:literal: $body:expr;)*) => { $(
        #[test]
        fn $test() {
            on_release($version, concat!("caches::", stringify!($test)), $body);
        }
    )* };
}

tests! {
    blobs_share_the_block_cache_from_7_10 on "7.10.2": blobs_share_the_block_cache;
    blobs_share_the_block_cache_in_the_newest_release on "11.8.1": blobs_share_the_block_cache;
    a_hyper_clock_cache_is_shared_in_8_11 on "8.11.4": a_clock_is_shared;
    a_hyper_clock_cache_is_shared_in_9_10 on "9.10.0": a_clock_is_shared;
    a_hyper_clock_cache_is_shared_in_10_4 on "10.4.2": a_clock_is_shared;
    separate_blob_cache_has_its_own_size on "9.10.0": separate_blob_cache;
    operations_are_counted_in_the_oldest_release on "5.18.4": operations_are_counted;
    operations_are_counted_with_blobs on "7.10.2": operations_are_counted;
    operations_are_counted_in_the_newest_release on "11.8.1": operations_are_counted;
}

const HIGH: &str = "assay.cache_high_priority_share";
const LOW: &str = "assay.cache_low_priority_share";

fn separated(more: &[(&str, &str)]) -> Options {
    let mut options = small_files();
    for (name, value) in [
        ("enable_blob_files", "true"),
        ("min_blob_size", "0"),
        ("block_based_table_factory.cache_index_and_filter_blocks", "true"),
    ] {
        options.set(name, value);
    }
    more.iter().for_each(|(name, value)| options.set(*name, *value));
    options
}

fn get(engine: &dyn Engine, rows: u64) {
    let (mut session, mut answer) = (engine.session().unwrap(), Rows::new());
    for n in 0..rows {
        let key = format!("{n:020}");
        session.execute(&Op::Get { key: key.as_bytes() }, &mut answer).unwrap();
    }
}

fn own(state: &EngineState, name: &str) -> f64 {
    *state.own_counters.get(name).unwrap_or_else(|| panic!("no {name}: {state:?}"))
}

/// Goal: each priority that a shared cache can give is in force, and blob values lie in it.
/// Method: the four pairs of pools of [Callaghan 2022-09-15],
/// read back; the usage of the two caches is one number because they are one object.
fn blobs_share_the_block_cache(driver: &dyn Driver) {
    for (high, low) in [("0", "0"), ("0.5", "0"), ("0.25", "0.5"), ("0", "0.5")] {
        let lru =
            [("assay.cache", "lru"), ("assay.blob_cache", "shared"), (HIGH, high), (LOW, low)];
        let (_dir, engine) = open(driver, separated(&lru));
        let effective = engine.effective_options().unwrap();
        for (name, requested) in [(HIGH, high), (LOW, low)] {
            let found: f64 = effective.get(name).unwrap().parse().unwrap();
            assert_eq!(found.to_bits(), requested.parse::<f64>().unwrap().to_bits(), "{name}");
        }
        assert_eq!(effective.get("assay.blob_cache"), Some("shared"));
        assert_eq!(effective.get("assay.cache"), Some("lru"));
        assert_eq!(effective.get("blob_cache_name"), Some("LRUCache"));
        is_one_cache(&*engine);
        engine.close().unwrap();
    }
}

/// Checks that blob values are in the cache of the blocks.
#[expect(clippy::float_cmp, reason = "two readings of one counter")]
fn is_one_cache(engine: &dyn Engine) {
    put(engine, 5_000);
    engine.maintain(Maintenance::Flush).unwrap();
    let empty = reading(&settle(engine), "engine_cache_bytes");
    get(engine, 5_000);
    let state = settle(engine);
    let filled = reading(&state, "engine_cache_bytes");
    // What was put are values of 100 bytes.
    assert!(filled - empty >= 100 * 3_000, "{empty}, {filled}");
    assert_eq!(own(&state, "rocksdb.blob-cache-usage"), filled as f64);
}

fn a_clock_is_shared(driver: &dyn Driver) {
    let clock = [("assay.cache", "hyper_clock"), ("assay.blob_cache", "shared")];
    let (_dir, engine) = open(driver, separated(&clock));
    let effective = engine.effective_options().unwrap();
    assert_eq!(effective.get("assay.cache"), Some("hyper_clock"));
    assert!(effective.get("blob_cache_name").unwrap().ends_with("HyperClockCache"));
    is_one_cache(&*engine);
    engine.close().unwrap();
}

#[expect(clippy::float_cmp, reason = "a size that was given")]
fn separate_blob_cache(driver: &dyn Driver) {
    let (_dir, engine) = open(driver, separated(&[("assay.blob_cache", "4MiB")]));
    put(&*engine, 5_000);
    engine.maintain(Maintenance::Flush).unwrap();
    get(&*engine, 5_000);
    let state = settle(&*engine);
    assert_eq!(own(&state, "rocksdb.blob-cache-capacity"), f64::from(4 << 20));
    let usage = own(&state, "rocksdb.blob-cache-usage");
    assert!(usage > 100.0 * 3_000.0, "{usage}");
    engine.close().unwrap();
}

/// Goal: the numbers of the perf context mean the same in every release.
/// Method: its counts against the engine's tickers, which are named, over reads alone.
#[expect(clippy::float_cmp, reason = "two counts of the same things")]
fn operations_are_counted(driver: &dyn Driver) {
    let has_blobs = driver.capabilities().has("blob_cache");
    assert_eq!(has_blobs, !driver.identity().version.starts_with(">=5."));
    let counting = [("assay.perf_context", "on"), ("assay.statistics", "on")];
    let mut options = small_files();
    if has_blobs {
        let shared = [("assay.cache", "lru"), ("assay.blob_cache", "shared")];
        options = separated(&[counting.as_slice(), &shared].concat());
    }
    counting.iter().for_each(|(name, value)| options.set(*name, *value));
    options.set("block_based_table_factory.filter_policy", "bloomfilter:10:false");
    let (_dir, engine) = open(driver, options);
    put(&*engine, 20_000);
    engine.maintain(Maintenance::Flush).unwrap();
    // Tickers count what compaction reads too, so nothing may be left to compact.
    engine.maintain(Maintenance::CompactAll).unwrap();
    let before = settle(&*engine);
    // Twice, so that the cache is hit, and beyond what there is, so that filters are used.
    get(&*engine, 30_000);
    get(&*engine, 30_000);
    read_otherwise(&*engine);
    let after = settle(&*engine);
    let grown = |name: &str| own(&after, name) - own(&before, name);
    let reads = grown("perf.block_read_count");
    for (counted, ticker) in [
        ("perf.block_cache_hit_count", "rocksdb.block.cache.hit"),
        ("perf.block_read_count", "rocksdb.block.cache.miss"),
        ("perf.get_read_bytes", "rocksdb.bytes.read"),
        ("perf.iter_read_bytes", "rocksdb.db.iter.bytes.read"),
        ("perf.multiget_read_bytes", "rocksdb.number.multiget.bytes.read"),
        ("perf.bloom_sst_miss_count", "rocksdb.bloom.filter.useful"),
    ] {
        assert_eq!(grown(counted), grown(ticker), "{counted}");
        assert!(grown(counted) > 0.0, "{counted}");
    }
    assert!(grown("perf.user_key_comparison_count") > 60_000.0);
    let grown_reading = |name: &str| after.readings[name] - before.readings[name];
    let mut all = reads + grown("perf.block_cache_hit_count");
    if has_blobs {
        let (hits, reads) = (grown("perf.blob_cache_hit_count"), grown("perf.blob_read_count"));
        assert_eq!(hits, grown("rocksdb.blobdb.cache.hit"));
        assert!(reads > 0.0);
        all += hits + reads;
    }
    assert_eq!(grown_reading("engine_block_lookups"), all);
    assert_eq!(grown_reading("engine_memtable_hits"), 0.0, "everything lies in files");
    assert!(grown_reading("engine_memtable_misses") >= 60_000.0);
    put(&*engine, 100);
    get(&*engine, 100);
    let reading = |name: &str| engine.state().unwrap().readings[name] - after.readings[name];
    let [hits, misses] = ["engine_memtable_hits", "engine_memtable_misses"].map(reading);
    // Keys repeat: not every row was put again.
    assert!(hits > 0.0 && hits + misses == 100.0, "{hits} {misses}");
    engine.close().unwrap();
}

/// Reads a range and several keys at once.
fn read_otherwise(engine: &dyn Engine) {
    let (mut session, mut answer) = (engine.session().unwrap(), Rows::new());
    let keys = ["00000000000000000001", "00000000000000000002"].map(str::as_bytes);
    let scan = Op::Scan { start: keys[0], limit: 10, direction: Direction::Forward };
    session.execute(&scan, &mut answer).unwrap();
    session.execute(&Op::MultiGet { keys: &keys }, &mut answer).unwrap();
}
