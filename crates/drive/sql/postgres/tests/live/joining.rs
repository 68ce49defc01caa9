//! Several processes of one run on one database.

use std::path::Path;

use driver_postgres::DRIVER;
use engine::{Driver, Engine, EngineError, LockWaits, Rows, join_data_set};
use model::{Op, Outcome};

use crate::newest::newest;
use crate::test_server::{TestServer, open, spec};

/// Opens the database of a run whose first process holds the lock.
fn join(server: &TestServer, dir: &Path) -> Result<Box<dyn Engine>, EngineError> {
    let waits = LockWaits { is_lock_held: true, ..LockWaits::default() };
    DRIVER.open_shared(&spec(dir, server.endpoint(), None), &waits)
}

fn put(engine: &dyn Engine, key: &[u8]) {
    let op = Op::Put { key, value: b"value" };
    assert_eq!(engine.session().unwrap().execute(&op, &mut Rows::new()), Ok(Outcome::Done));
}

/// Goal: a second process finds the tables of the first, and both write; it creates none.
#[test]
fn a_second_process_joins_the_database_of_the_first() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let error = join(&server, dirs[2].path()).err().expect("there are no tables").to_string();
    assert!(error.contains("has not set up the tables"), "{error}");

    let first = open(&spec(dirs[0].path(), server.endpoint(), None)).unwrap();
    let token = first.server().unwrap().data_set().unwrap();
    put(&*first, b"of the first");
    join_data_set(dirs[1].path(), &token).unwrap();
    let second = join(&server, dirs[1].path()).unwrap();
    assert_eq!(second.server().unwrap().data_set(), Some(token));
    put(&*second, b"of the second");
    put(&*first, b"of the first again");
    for engine in [&first, &second] {
        let mut session = engine.session().unwrap();
        for key in [&b"of the first"[..], b"of the second", b"of the first again"] {
            let get = Op::Get { key };
            assert_eq!(session.execute(&get, &mut Rows::new()), Ok(Outcome::Done), "{key:?}");
        }
    }
    join_data_set(dirs[2].path(), "of another run").unwrap();
    let error = join(&server, dirs[2].path()).err().expect("they are others").to_string();
    assert!(error.contains("has not set up the tables"), "{error}");
    let round_trip = second.server().unwrap().round_trip().unwrap().expect("a server");
    assert!(round_trip.0 > 0 && round_trip < model::Nanos::SECOND, "{round_trip}");
    second.close().unwrap();
    first.close().unwrap();
    server.stop();
}
