//! Check of durability after a process crash.

use std::fs;
use std::path::Path;

use model::{DataShape, Direction, Durability, Op, Settings};

use crate::{Driver, Engine, OpenSpec, Rows};

/// Rows written before the crash.
const ROWS: u32 = 300;
/// A value large enough that the rows fill several pages.
const VALUE: [u8; 900] = [7; 900];

/// Checks that acknowledged writes survive a process crash.
///
/// For the classes `os` and `sync`. The crash is simulated: rows are written, the directory is
/// copied as the operating system has it while the engine is open, and the copy is opened.
///
/// # Panics
/// When the engine fails, or a row is missing; the text names the class.
pub fn survives_process_crash(driver: &dyn Driver) {
    for class in [Durability::Os, Durability::Sync] {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let image = tempfile::tempdir().expect("a directory can be made");
        let engine = open(driver, dir.path(), class);
        write_rows(engine.as_ref());
        copy(dir.path(), image.path());
        engine.close().expect("the engine closes");

        let engine = open(driver, image.path(), class);
        assert_eq!(count_rows(engine.as_ref()), u64::from(ROWS), "class {class}");
        engine.close().expect("the engine closes");
    }
}

fn open(driver: &dyn Driver, dir: &Path, durability: Durability) -> Box<dyn Engine> {
    let settings = Settings { durability, ..Settings::default() };
    let data = DataShape { rows: 1000, key_bytes: 4, value_bytes: 900, compressible_to: 0.5 };
    let spec = OpenSpec::embedded(dir.to_owned(), settings, data);
    driver.open(&spec).expect("the directory is good")
}

fn write_rows(engine: &dyn Engine) {
    let mut session = engine.session().expect("there is room for a client");
    let mut rows = Rows::new();
    for row in 0..ROWS {
        let op = Op::Put { key: &row.to_be_bytes(), value: &VALUE };
        session.execute(&op, &mut rows).expect("the row is written");
    }
}

fn count_rows(engine: &dyn Engine) -> u64 {
    let mut session = engine.session().expect("there is room for a client");
    let mut rows = Rows::new();
    rows.clear(false);
    let op = Op::Scan { start: &[0], limit: u32::MAX, direction: Direction::Forward };
    session.execute(&op, &mut rows).expect("the rows are read");
    rows.count()
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("the directory is there") {
        let entry = entry.expect("the directory can be read");
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            fs::create_dir(&target).expect("the copy can be made");
            copy(&source, &target);
        } else {
            fs::copy(&source, &target).expect("the copy can be made");
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn memory_survives_a_process_crash() {
        super::survives_process_crash(&crate::memory::MemoryDriver);
    }
}
