//! State, durability classes and compaction of the redb driver.

use std::path::Path;

use engine::{Engine, Maintenance, OpenSpec, Rows};
use model::{DataShape, Durability, Op, Outcome, Settings};

fn open(dir: &Path, durability: Durability) -> Box<dyn Engine> {
    let settings = Settings { durability, ..Settings::default() };
    let data = DataShape { rows: 1000, key_bytes: 4, value_bytes: 400, compressible_to: 0.5 };
    let spec = OpenSpec::embedded(dir.to_owned(), settings, data);
    driver_redb::driver().open(&spec).expect("the directory is good")
}

fn fill(engine: &dyn Engine, rows: u32) {
    let mut session = engine.session().expect("redb has room for every client");
    for row in 0..rows {
        let op = Op::Put { key: &row.to_be_bytes(), value: &[7; 400] };
        assert_eq!(session.execute(&op, &mut Rows::new()), Ok(Outcome::Done));
    }
}

fn reading(engine: &dyn Engine, name: &str) -> f64 {
    engine.state().expect("redb answers").readings[name]
}

/// Goal: each class gives exactly its guarantee.
/// Method: count the syncs and bytes that reach the file during 50 puts.
#[test]
fn classes_differ_in_what_reaches_the_file() {
    for (class, is_written, is_synced) in [
        (Durability::None, false, false),
        (Durability::Os, true, false),
        (Durability::Sync, true, true),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let engine = open(dir.path(), class);
        let before =
            ["engine_fsyncs", "engine_page_write_bytes"].map(|name| reading(&*engine, name));
        fill(&*engine, 50);
        let syncs = reading(&*engine, "engine_fsyncs") - before[0];
        let bytes = reading(&*engine, "engine_page_write_bytes") - before[1];
        assert_eq!((syncs >= 50.0, syncs > 0.0), (is_synced, is_synced), "{class}: {syncs}");
        assert_eq!(bytes >= 50.0 * 4096.0, is_written, "{class}: {bytes}");
        engine.close().unwrap();
    }
}

#[test]
fn height_is_known_after_the_first_statistics() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), Durability::None);
    fill(&*engine, 500);
    assert_eq!(engine.state().unwrap().tree_height, None);
    let text = engine.statistics_text().unwrap();
    assert!(text.contains("stored_leaf_bytes: 202000,\n"), "{text}");
    assert_eq!(engine.state().unwrap().tree_height, Some(2));
    engine.close().unwrap();
}

/// Goal: a read requests at least a page per level, and hits what was just written.
#[test]
fn page_lookups_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), Durability::Os);
    fill(&*engine, 500);
    let before = reading(&*engine, "engine_block_lookups");
    let mut session = engine.session().unwrap();
    for row in 0..100_u32 {
        let op = Op::Get { key: &row.to_be_bytes() };
        assert_eq!(session.execute(&op, &mut Rows::new()), Ok(Outcome::Done));
    }
    let lookups = reading(&*engine, "engine_block_lookups") - before;
    assert!(lookups >= 200.0, "two levels: {lookups}");
    assert!(reading(&*engine, "engine_cache_hits") > reading(&*engine, "engine_cache_misses"));
    assert!(reading(&*engine, "engine_cache_bytes") > 200_000.0);
    drop(session);
    engine.close().unwrap();
}

#[test]
fn compaction_is_skipped_while_a_session_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), Durability::None);
    fill(&*engine, 2000);
    let mut session = engine.session().unwrap();
    assert_eq!(engine.maintain(Maintenance::CompactAll), Ok(false), "a session is open");
    let op = Op::Get { key: &7_u32.to_be_bytes() };
    assert_eq!(session.execute(&op, &mut Rows::new()), Ok(Outcome::Done));
    drop(session);
    let before = reading(&*engine, "engine_disk_bytes");
    assert_eq!(engine.maintain(Maintenance::CompactAll), Ok(true));
    assert!(reading(&*engine, "engine_disk_bytes") < before);
    fill(&*engine, 10);
    engine.close().unwrap();
}
