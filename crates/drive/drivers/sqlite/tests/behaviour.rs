//! State, options and refusals of the SQLite driver.

use std::path::Path;

use engine::{Engine, EngineError, Maintenance, OpenSpec, Rows, Session};
use model::{Bytes, DataShape, Durability, Op, Outcome, Settings};

fn open(
    dir: &Path,
    durability: Durability,
    options: &[(&str, &str)],
) -> Result<Box<dyn Engine>, EngineError> {
    let cache_bytes = Some(Bytes(4 << 20));
    let settings = Settings { durability, cache_bytes, ..Settings::default() };
    let data = DataShape { rows: 1000, key_bytes: 4, value_bytes: 400, compressible_to: 0.5 };
    let options = options.iter().copied().collect();
    driver_sqlite::driver()
        .open(&OpenSpec { options, ..OpenSpec::embedded(dir.to_owned(), settings, data) })
}

fn put(session: &mut dyn Session, row: u32) -> Result<Outcome, EngineError> {
    session.execute(&Op::Put { key: &row.to_be_bytes(), value: &[7; 400] }, &mut Rows::new())
}

#[test]
fn state_reports_height_cache_and_wal_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), Durability::Os, &[]).unwrap();
    assert_eq!(engine.state().unwrap().tree_height, Some(1));
    let mut session = engine.session().unwrap();
    for row in 0..5000 {
        assert_eq!(put(&mut *session, row), Ok(Outcome::Done));
    }
    let state = engine.state().unwrap();
    assert!(
        state.readings["engine_cache_bytes"] > 1e5,
        "published while the session is open: {state:?}"
    );
    drop(session);
    let state = engine.state().unwrap();
    assert!(state.readings["engine_cache_bytes"].abs() < 1.0, "{state:?}");
    assert!(state.readings["engine_cache_hits"] > 5000.0, "{state:?}");
    assert!(state.readings["engine_wal_write_bytes"] > 5000.0 * 4096.0, "{state:?}");
    assert!(state.readings["log_bytes"] > 4096.0, "{state:?}");
    assert!(!state.readings.contains_key("engine_page_write_bytes"), "{state:?}");
    assert!(state.tree_height.is_some_and(|height| height >= 3), "{state:?}");
    assert_eq!(engine.maintain(Maintenance::Flush), Ok(true));
    let state = engine.state().unwrap();
    assert!(state.readings["log_bytes"] < 1.0, "{state:?}");
    assert!(state.readings["engine_disk_bytes"] > 2e6, "{state:?}");
    engine.close().unwrap();
}

#[test]
fn configuration_is_read_back_from_sqlite() {
    let dir = tempfile::tempdir().unwrap();
    let requested = [("page_size", "8192"), ("temp_store", "MEMORY")];
    let engine = open(dir.path(), Durability::Sync, &requested).unwrap();
    let options = engine.effective_options().unwrap();
    for (name, value) in [
        ("page_size", "8192"),
        ("journal_mode", "wal"),
        ("synchronous", "2"),
        ("cache_size", "-4096"),
        ("temp_store", "2"),
        ("assay.table", "without_rowid"),
    ] {
        assert_eq!(options.get(name), Some(value), "{name}");
    }
    engine.close().unwrap();
}

#[test]
fn value_that_sqlite_does_not_accept_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path(), Durability::Os, &[]).unwrap().close().unwrap();
    for (name, value) in [("page_size", "8192"), ("assay.table", "rowid"), ("mmap_size", "many")] {
        let error = open(dir.path(), Durability::Os, &[(name, value)]).err();
        assert!(error.as_ref().and_then(EngineError::refused_option) == Some(name), "{error:?}");
    }
}
