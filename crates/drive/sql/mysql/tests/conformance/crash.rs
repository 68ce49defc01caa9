//! Durability after a kill of the server.

use engine::conformance::scratch_dir;
use engine::{Engine, OpenSpec, Rows};
use model::{DataShape, Direction, Durability, Op, Settings};

use crate::test_server::Build;

/// Rows written before the kill.
const ROWS: u32 = 300;

/// Checks that acknowledged writes survive a kill in durability class `os`.
///
/// Rows are written, the server is killed with all it has in memory, and started again.
pub(crate) fn survives(build: &Build, options: &[(&str, &str)]) {
    let (class, driver) = (Durability::Os, build.driver());
    let (dir, run_dir) = (tempfile::tempdir_in(scratch_dir()), tempfile::tempdir());
    let [dir, run_dir] = [dir, run_dir].map(|made| made.expect("a directory can be made"));
    let server = build.start_in(dir, class, options).expect("the server starts");
    let settings = Settings { durability: class, ..Settings::default() };
    let data = DataShape { rows: 1000, key_bytes: 4, value_bytes: 900, compressible_to: 0.5 };
    let mut spec = OpenSpec::embedded(run_dir.path().to_owned(), settings, data);
    spec.endpoint = Some(server.endpoint());
    let engine = driver.open(&spec).expect("the server is good");
    write_rows(&*engine);
    drop(engine);

    let server = server.crash(build, class, options);
    spec.endpoint = Some(server.endpoint());
    let engine = driver.open(&spec).expect("the server is good");
    assert_eq!(count_rows(&*engine), u64::from(ROWS), "{options:?}");
}

fn write_rows(engine: &dyn Engine) {
    let (mut session, mut rows) = (engine.session().expect("there is room"), Rows::new());
    for row in 0..ROWS {
        let op = Op::Put { key: &row.to_be_bytes(), value: &[7; 900] };
        session.execute(&op, &mut rows).expect("the row is written");
    }
}

fn count_rows(engine: &dyn Engine) -> u64 {
    let (mut session, mut rows) = (engine.session().expect("there is room"), Rows::new());
    rows.clear(false);
    let op = Op::Scan { start: &[0], limit: u32::MAX, direction: Direction::Forward };
    session.execute(&op, &mut rows).expect("the rows are read");
    rows.count()
}
