//! A test server with a database per claim.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use engine::conformance::wait_until;
use engine::{ApplicationSetup, Driver, Engine, EngineError, OpenSpec, Rows, Session};
use model::sql::{Application, Argument, Call};
use model::{DataShape, Durability, Endpoint, Op, OpKind, Outcome, Settings};
use server::Kind;
use tempfile::TempDir;

use crate::application::{GIVE, HOLD, TAKE, WAITERS};
use crate::test_server::Server;

/// A server, and the driver that connects to it.
pub(crate) struct Fixture {
    pub(crate) endpoint: Endpoint,
    pub(crate) driver: Box<dyn Driver>,
    kind: &'static dyn Kind,
    next: AtomicU32,
}

impl Fixture {
    pub(crate) fn new(server: &Server, driver: Box<dyn Driver>) -> Self {
        Self { endpoint: server.endpoint(), driver, kind: server.kind(), next: AtomicU32::new(0) }
    }

    /// Returns the spec of a fresh database in a fresh directory.
    pub(crate) fn fresh(&self, application: Option<Application>) -> (OpenSpec, TempDir) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let endpoint = Endpoint { database: format!("live{number}"), ..self.endpoint.clone() };
        self.kind.probe(&endpoint).expect("the server answers");
        let dir = tempfile::tempdir().expect("a directory can be made");
        // As the server was started.
        let settings = Settings { durability: Durability::None, ..Settings::default() };
        let data = DataShape { rows: 100, key_bytes: 20, value_bytes: 100, compressible_to: 0.5 };
        let spec = OpenSpec {
            endpoint: Some(endpoint),
            application: application.map(|application| ApplicationSetup {
                application: Arc::new(application),
                clients: 2,
            }),
            ..OpenSpec::embedded(dir.path().to_owned(), settings, data)
        };
        (spec, dir)
    }

    /// Opens a fresh database with that application.
    pub(crate) fn open(&self, application: Application) -> (Box<dyn Engine>, TempDir) {
        let (spec, dir) = self.fresh(Some(application));
        (self.driver.open(&spec).expect("the server is good"), dir)
    }
}

/// Holds the first row of the first table while `body` runs.
///
/// A transaction changes the row and waits for a lock, which this thread has until `body` ends.
pub(crate) fn while_row_is_held(engine: &dyn Engine, body: impl FnOnce()) {
    thread::scope(|scope| {
        // Its end frees the lock, after a panic too.
        let mut keeper = engine.session().expect("there is room");
        let mut keep = |what| call(&mut *keeper, what, &[], &[]).expect("the server answers").1;
        keep(TAKE);
        let holder = scope.spawn(|| {
            let mut session = engine.session().expect("there is room");
            call(&mut *session, HOLD, &[Argument::Integer(1)], &[]).map(drop)
        });
        assert!(wait_until(|| keep(WAITERS) == 1), "the row is held");
        body();
        keep(GIVE);
        assert_eq!(holder.join().expect("no panic"), Ok(()));
    });
}

/// Calls a procedure of that number for the first table; returns the first field of each row.
pub(crate) fn call(
    session: &mut dyn Session,
    (procedure, kind): (u16, OpKind),
    arguments: &[Argument],
    bytes: &[u8],
) -> Result<(Outcome, u64, Vec<String>), EngineError> {
    let mut rows = Rows::new();
    rows.clear(true);
    let call = Call { procedure, kind, table: 0, arguments, bytes, pause: model::Nanos(0) };
    let outcome = session.execute(&Op::Call(call), &mut rows)?;
    let stored = rows.stored().map(|(_, row)| first_field(row));
    Ok((outcome, rows.count(), stored.collect()))
}

/// Returns the first field of a row of either protocol, a short text.
fn first_field(row: &[u8]) -> String {
    // A binary row begins with a zero byte and, of up to six columns, a byte of null bits.
    let field = if row.first() == Some(&0) { &row[2..] } else { row };
    let (length, text) = field.split_first().expect("a row has a field");
    String::from_utf8(text[..usize::from(*length)].to_vec()).expect("a text")
}
