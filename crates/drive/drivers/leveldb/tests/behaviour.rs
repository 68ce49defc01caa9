//! State and statistics of the LevelDB driver.

#![expect(clippy::unwrap_used, reason = "an unwrap in a helper fails the test")]
#![expect(clippy::print_stdout, reason = "a test prints its progress")]

mod library;

use std::path::Path;

use engine::{Driver, Engine, Maintenance, OpenSpec, Rows, Session};
use model::{DataShape, Durability, Op, Settings};

/// Rows of one round: about 4 MiB, so several memtables.
const ROWS: u32 = 10_000;

fn open(driver: &dyn Driver, dir: &Path) -> Box<dyn Engine> {
    let options = [("write_buffer_size", "256KiB"), ("compression", "none")];
    let spec = OpenSpec {
        options: options.into_iter().collect(),
        ..OpenSpec::embedded(
            dir.to_owned(),
            Settings { durability: Durability::Os, ..Settings::default() },
            DataShape { rows: 10_000, key_bytes: 4, value_bytes: 400, compressible_to: 1.0 },
        )
    };
    driver.open(&spec).unwrap()
}

fn fill(session: &mut dyn Session) {
    for row in 0..ROWS {
        // A permutation: rows arrive in no order, so tables overlap and are compacted.
        let key = (row.wrapping_mul(7919) % ROWS).to_be_bytes();
        let op = Op::Put { key: &key, value: &[7; 400] };
        session.execute(&op, &mut Rows::new()).unwrap();
    }
}

/// Goal: the counters are right.
/// Method: what flush and compaction wrote is checked against the rows and the files.
#[test]
fn state_reports_flush_and_compaction() {
    library::on_every_build("state_reports_flush_and_compaction", check_state);
}

fn check_state(driver: &dyn Driver) {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(driver, dir.path());
    let mut session = engine.session().unwrap();
    fill(&mut *session);
    fill(&mut *session);
    let live = f64::from(ROWS) * 404.0;
    engine.maintain(Maintenance::Flush).unwrap();
    let state = engine.state().unwrap();
    let flushed = state.readings["engine_flush_write_bytes"];
    assert!(flushed > 1.9 * live && flushed < 2.2 * live, "{state:?}");
    let logged = state.readings["engine_wal_write_bytes"];
    assert!(logged > 2.0 * live && logged < 2.2 * live, "{state:?}");
    assert!(state.own_counters["flushes"] > 20.0, "{state:?}");
    assert!(state.own_counters["compactions"] > 0.0, "{state:?}");

    engine.maintain(Maintenance::CompactAll).unwrap();
    let is_idle = (0..3).map(|_| engine.state().unwrap().is_idle).last().unwrap();
    assert_eq!(is_idle, Some(true));
    let state = engine.state().unwrap();
    let tables = state.readings["engine_disk_bytes"];
    assert!(tables > live && tables < 1.1 * live, "{state:?}");
    let files = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap());
    let files = files.filter(|file| file.path().extension().is_some_and(|end| end == "ldb"));
    let found: u64 = files.map(|file| file.metadata().unwrap().len()).sum();
    assert!((tables - found as f64).abs() < 1.0, "{found} bytes in files, {state:?}");
    assert!(state.readings["engine_compaction_write_bytes"] > live, "{state:?}");
    assert!(state.readings["engine_compaction_read_bytes"] > live, "{state:?}");
    let levels = state.levels.unwrap();
    assert!(levels.iter().any(|shape| shape.level > 0 && shape.bytes > 2 << 20), "{levels:?}");
    assert!(engine.statistics_text().unwrap().contains("approximate-memory-usage"));
    let own = engine.own_files();
    assert!(!own.is_empty() && own.iter().all(|file| file.is_file()), "{own:?}");
    drop(session);
    engine.close().unwrap();
}
