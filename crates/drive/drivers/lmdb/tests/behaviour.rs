//! State, options and refusals of the LMDB driver.

use std::path::Path;

use engine::{Engine, EngineError, OpenSpec, Rows};
use model::{DataShape, Direction, Durability, Op, Outcome, Settings};

fn open(dir: &Path, options: &[(&str, &str)]) -> Box<dyn Engine> {
    let settings = Settings { durability: Durability::Os, ..Settings::default() };
    let data = DataShape { rows: 1000, key_bytes: 4, value_bytes: 400, compressible_to: 0.5 };
    let options = options.iter().copied().collect();
    let spec = OpenSpec { options, ..OpenSpec::embedded(dir.to_owned(), settings, data) };
    driver_lmdb::driver().open(&spec).expect("the directory is good")
}

fn put(engine: &dyn Engine, row: u32) -> Result<Outcome, EngineError> {
    let op = Op::Put { key: &row.to_be_bytes(), value: &[7; 400] };
    engine.session()?.execute(&op, &mut Rows::new())
}

#[test]
fn state_reports_height_and_size() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), &[]);
    assert_eq!(engine.state().unwrap().tree_height, Some(0));
    for row in 0..2000 {
        assert_eq!(put(&*engine, row), Ok(Outcome::Done));
    }
    let state = engine.state().unwrap();
    assert!(state.tree_height.is_some_and(|height| height >= 2), "{state:?}");
    assert!(state.readings["engine_disk_bytes"] > 800_000.0, "{state:?}");
    assert!(engine.statistics_text().unwrap().contains("ms_entries: 2000,\n"));
    engine.close().unwrap();
}

#[test]
fn configuration_is_read_back_from_lmdb() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), &[("MDB_NORDAHEAD", "true"), ("map_size", "64MiB")]);
    let options = engine.effective_options().unwrap();
    for (name, value) in [
        ("map_size", "67108864"),
        ("max_readers", "8192"),
        ("MDB_NORDAHEAD", "true"),
        ("MDB_NOSYNC", "true"),
        ("MDB_WRITEMAP", "false"),
    ] {
        assert_eq!(options.get(name), Some(value), "{name}");
    }
    engine.close().unwrap();
}

#[test]
fn full_map_names_the_option_to_raise() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), &[("map_size", "2MiB")]);
    let failure = (0..10_000).find_map(|row| put(&*engine, row).err());
    let Some(EngineError::Fatal(text)) = failure else { panic!("{failure:?}") };
    assert!(text.contains("map_size"), "{text}");
    engine.close().unwrap();
}

/// Goal: LMDB's own 126 reader slots are no limit on clients.
#[test]
fn hundreds_of_clients_have_their_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), &[]);
    assert_eq!(put(&*engine, 7), Ok(Outcome::Done));
    let mut sessions: Vec<_> = (0..600).map(|_| engine.session().unwrap()).collect();
    for session in &mut sessions {
        let get = Op::Get { key: &7_u32.to_be_bytes() };
        assert_eq!(session.execute(&get, &mut Rows::new()), Ok(Outcome::Done));
    }
    drop(sessions);
    engine.close().unwrap();
}

#[test]
fn one_client_too_many_is_refused_its_session() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), &[("max_readers", "1")]);
    let session = engine.session().unwrap();
    let on_other_thread = || {
        std::thread::scope(|scope| {
            scope.spawn(|| engine.session().map(drop)).join().expect("no panic")
        })
    };
    let other = on_other_thread();
    let Err(EngineError::Fatal(text)) = other else { panic!("{other:?}") };
    assert!(text.contains("max_readers"), "{text}");
    drop(session);
    assert_eq!(on_other_thread(), Ok(()), "a session that ends frees its slot");
    engine.close().unwrap();
}

/// Goal: a reused read transaction reads the latest commit.
#[test]
fn session_reads_the_last_write_of_another() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), &[]);
    let (mut reader, mut rows) = (engine.session().unwrap(), Rows::new());
    for value in [[1; 8], [2; 8]] {
        engine
            .session()
            .unwrap()
            .execute(&Op::Put { key: b"k", value: &value }, &mut rows)
            .unwrap();
        for op in [
            Op::Get { key: b"k" },
            Op::Scan { start: b"", limit: 2, direction: Direction::Forward },
        ] {
            rows.clear(true);
            assert_eq!(reader.execute(&op, &mut rows), Ok(Outcome::Done));
            assert_eq!(rows.stored().collect::<Vec<_>>(), [(&b"k"[..], &value[..])]);
        }
    }
    drop(reader);
    engine.close().unwrap();
}
