//! State, durability classes and maintenance of the index+log driver.

use std::path::Path;

use engine::{Engine, Maintenance, OpenSpec, Rows};
use model::{DataShape, Durability, Op, Outcome, Settings};

fn open(dir: &Path, durability: Durability, options: &[(&str, &str)]) -> Box<dyn Engine> {
    let settings = Settings { durability, ..Settings::default() };
    let data = DataShape { rows: 1000, key_bytes: 4, value_bytes: 400, compressible_to: 0.5 };
    let mut spec = OpenSpec::embedded(dir.to_owned(), settings, data);
    spec.options = options.iter().copied().collect();
    driver_indexlog::driver().open(&spec).expect("the directory is good")
}

fn fill(engine: &dyn Engine, rows: u32) {
    let mut session = engine.session().expect("there is room for every client");
    for row in 0..rows {
        let op = Op::Put { key: &row.to_be_bytes(), value: &[7; 400] };
        assert_eq!(session.execute(&op, &mut Rows::new()), Ok(Outcome::Done));
    }
}

fn reading(engine: &dyn Engine, name: &str) -> f64 {
    engine.state().expect("it answers").readings[name]
}

/// Goal: each class gives exactly its guarantee.
/// Method: count the syncs and the bytes of the log during 50 writes.
#[test]
fn classes_differ_in_what_reaches_the_log() {
    for (class, is_written, is_synced) in [
        (Durability::None, false, false),
        (Durability::Os, true, false),
        (Durability::Sync, true, true),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let engine = open(dir.path(), class, &[]);
        let syncs = reading(&*engine, "engine_fsyncs");
        fill(&*engine, 50);
        let syncs = reading(&*engine, "engine_fsyncs") - syncs;
        assert_eq!((syncs >= 50.0, syncs > 0.0), (is_synced, is_synced), "{class}: {syncs}");
        let bytes = reading(&*engine, "engine_wal_write_bytes");
        assert_eq!(bytes >= 50.0 * 404.0, is_written, "{class}: {bytes}");
        engine.close().unwrap();
    }
}

/// Goal: garbage is known once the index is compacted, and collected without a read of the index.
#[test]
fn overwritten_documents_are_collected() {
    let dir = tempfile::tempdir().unwrap();
    let options = [("write_cache_bytes", "64KiB"), ("segment_bytes", "64KiB")];
    let engine = open(dir.path(), Durability::Os, &options);
    for _ in 0..10 {
        fill(&*engine, 500);
    }
    assert_eq!(engine.maintain(Maintenance::CompactAll), Ok(true));
    let state = engine.state().unwrap();
    assert!(state.own_counters["segments_collected"] > 0.0, "{state:?}");
    assert!(state.own_counters["index_reads"] < 1.0, "{state:?}");
    let (live, disk) = (state.readings["engine_live_bytes"], state.readings["engine_disk_bytes"]);
    assert!((live - 500.0 * 404.0).abs() < 1.0, "{live}");
    assert!(disk < 2.0 * live, "{disk} bytes for {live}");
    engine.close().unwrap();
}

/// Goal: a point read of a document that is cached reads its tuple and nothing else.
#[test]
fn cached_documents_are_hits() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), Durability::Os, &[]);
    fill(&*engine, 500);
    engine.maintain(Maintenance::Flush).unwrap();
    let mut session = engine.session().unwrap();
    for (hits, misses) in [(0.0, 100.0_f64), (100.0_f64, 100.0)] {
        for row in 0..100_u32 {
            let op = Op::Get { key: &row.to_be_bytes() };
            let mut rows = Rows::new();
            assert_eq!(session.execute(&op, &mut rows), Ok(Outcome::Done));
        }
        let state = engine.state().unwrap();
        for (name, expected) in [("document_hits", hits), ("document_misses", misses)] {
            let found: f64 = state.own_counters[name];
            assert!((found - expected).abs() < 1.0, "{found} {name}");
        }
    }
    drop(session);
    engine.close().unwrap();
}
