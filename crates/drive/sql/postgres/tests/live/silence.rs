//! A server that falls silent is named within the limit, and its run ends.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use driver_postgres::DRIVER;
use engine::conformance::wait_until;
use engine::{Driver, Engine, EngineError, LockWaits, Maintenance};
use model::{Address, Endpoint};

use crate::calls::{foreign, just_call, statements};
use crate::newest::newest;
use crate::test_server::{TestServer, spec};

/// Time of a watchdog; an answer has 75 % of it.
const WATCHDOG: Duration = Duration::from_secs(2);
/// The error of an answer that does not come.
const NAMED: &str = "a query had no answer for 1.5 s";

/// How a connection answers from a request with a text on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Nothing,
    /// A byte after the other of a notice that never ends.
    Drips,
}

/// A query of a run.
type Query = fn(&dyn Engine) -> Result<(), EngineError>;

/// The query that finds a server silent, unless the open does.
struct Case {
    text: &'static str,
    answer: Answer,
    query: Query,
}

/// Listens before a server until the test ends; returns where.
fn silent_from(server: &TestServer, text: &'static str, answer: Answer) -> Endpoint {
    let endpoint = foreign(server, "postgres");
    let Address::Socket(socket) = endpoint.address.clone() else { panic!("{endpoint:?}") };
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let socket = socket.clone();
            // A client that goes away ends its connection alone.
            thread::spawn(move || pass(client?, &socket, text, answer));
        }
    });
    Endpoint { address: Address::tcp("127.0.0.1", port), ..endpoint }
}

/// Passes requests and answers on, until a request has the text; ends with the server.
fn pass(mut client: TcpStream, socket: &PathBuf, text: &str, answer: Answer) -> io::Result<()> {
    let mut session = UnixStream::connect(socket)?;
    let (mut back, mut to_client) = (session.try_clone()?, client.try_clone()?);
    let answers = thread::spawn(move || drop(io::copy(&mut back, &mut to_client)));
    let mut part = vec![0; 1 << 16];
    loop {
        let bytes = client.read(&mut part)?;
        if bytes == 0 {
            return session.shutdown(Shutdown::Both);
        }
        if part[..bytes].windows(text.len()).any(|it| it == text.as_bytes()) {
            break;
        }
        session.write_all(&part[..bytes])?;
    }
    session.shutdown(Shutdown::Both)?;
    drop(answers.join());
    // Source: Postgres' documentation, "Message Formats", NoticeResponse.
    if answer == Answer::Drips {
        client.write_all(b"N\0\0\0\x7f")?;
        loop {
            client.write_all(b"x")?;
            thread::park_timeout(Duration::from_millis(20));
        }
    }
    while UnixStream::connect(socket).is_ok() {
        thread::park_timeout(Duration::from_millis(50));
    }
    Ok(())
}

/// Opens a run; returns the result of `body`, or of the open.
fn opened<T>(
    endpoint: Endpoint,
    (dir, statement): (&Path, &str),
    body: impl FnOnce(&dyn Engine) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let (reports, _reported) = sync_channel(16);
    let waits = LockWaits::within(WATCHDOG, reports);
    let setup = statements(&[statement]);
    let engine = DRIVER.open_shared(&spec(dir, endpoint, Some(setup)), &waits)?;
    body(engine.as_ref())
}

/// Goal: whatever is queried, a server that does not answer is named before the watchdog ends the
/// run; a statement that the server does not execute is no progress.
#[test]
fn a_server_that_falls_silent_is_named_within_the_limit() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    let dir = tempfile::tempdir().unwrap();
    let case = |text, answer, query: Query| Case { text, answer, query };
    let cases = [
        case("pg_backend_pid()", Answer::Nothing, |_| Ok(())),
        case("pg_advisory_lock", Answer::Drips, |_| Ok(())),
        case("engine_cache_hits", Answer::Nothing, |engine| engine.state().map(drop)),
        case("assay_waits", Answer::Nothing, |engine| {
            engine.server().unwrap().wait_sampler().map(drop)
        }),
        case("full_page_writes", Answer::Drips, |engine| engine.durability().map(drop)),
    ];
    let place = (dir.path(), "SELECT pg_sleep(2)");
    for Case { text, answer, query } in cases {
        let endpoint = silent_from(&server, text, answer);
        let error = opened(endpoint, place, query).err().map(|error| error.to_string());
        assert!(error.as_ref().is_some_and(|it| it.contains(NAMED)), "{text}: {error:?}");
    }
    opened(foreign(&server, "postgres"), place, |engine| {
        thread::scope(|scope| {
            let call = scope.spawn(|| just_call(&mut *engine.session()?, 0));
            assert!(wait_until(|| engine.is_busy()), "the server executes the call");
            call.join().unwrap().map(drop)
        })
    })
    .unwrap();
    opened(silent_from(&server, "CHECKPOINT", Answer::Nothing), place, |engine| {
        thread::scope(|scope| {
            let work = scope.spawn(|| engine.maintain(Maintenance::Flush));
            assert!(wait_until(|| !engine.is_busy()), "the server executes nothing");
            assert!(!work.is_finished());
            server.stop();
            Ok(())
        })
    })
    .unwrap();
}
