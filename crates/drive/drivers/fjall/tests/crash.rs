//! What a crash of the process leaves behind.

use std::fs;
use std::path::Path;

use engine::{Engine, OpenSpec, Rows};
use model::{DataShape, Direction, Durability, Op, Options, Settings};

const ROWS: u32 = 300;

fn open(dir: &Path, durability: Durability) -> Box<dyn Engine> {
    let settings = Settings { durability, ..Settings::default() };
    let data = DataShape { rows: 1000, key_bytes: 4, value_bytes: 900, compressible_to: 0.5 };
    let spec = OpenSpec { dir: dir.to_owned(), settings, options: Options::new(), data };
    driver_fjall::driver().open(&spec).expect("the directory is good")
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

/// Goal: in the classes `os` and `sync` every acknowledged write outlives the process.
/// Method: write and do not close; copy what the operating system has been given; open the copy.
#[test]
fn acknowledged_writes_outlive_the_process() {
    for class in [Durability::Os, Durability::Sync] {
        let (dir, image) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let engine = open(dir.path(), class);
        let mut session = engine.session().unwrap();
        let mut rows = Rows::new();
        for row in 0..ROWS {
            let op = Op::Put { key: &row.to_be_bytes(), value: &[7; 900] };
            session.execute(&op, &mut rows).unwrap();
        }
        copy(dir.path(), image.path());
        drop(session);
        engine.close().unwrap();

        let engine = open(image.path(), class);
        let mut session = engine.session().unwrap();
        rows.clear(false);
        let op = Op::Scan { start: &[0], limit: u32::MAX, direction: Direction::Forward };
        session.execute(&op, &mut rows).unwrap();
        assert_eq!(rows.count(), u64::from(ROWS), "class {class}");
        drop(session);
        engine.close().unwrap();
    }
}
