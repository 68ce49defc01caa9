//! Transactions held open, and connections by TCP.

use engine::conformance::wait_until;
use engine::{Engine, Rows};
use model::{Address, Call, Op, OpKind, Options, Outcome};
use server::{Running, STOP_WITHIN, Start};

use crate::application::{application, procedure};
use crate::calls::{call, first_column, open_error};
use crate::newest::newest;
use crate::program::programs;
use crate::test_server::{TestServer, open, settings, spec, start};

const CREATE: &str = "CREATE TABLE {table} (id BIGINT PRIMARY KEY)";
const PEEK: u16 = 0;
const HELD: u16 = 1;

/// Returns the only text that a read returns.
fn read(engine: &dyn Engine, number: u16) -> String {
    let mut rows = Rows::new();
    call(&mut *engine.session().unwrap(), (number, 0), (&[], b""), &mut rows).unwrap();
    rows.stored().map(|(_, row)| first_column(row)).collect()
}

/// Goal: a hold leaves one transaction open with a snapshot, the next ends it and begins another,
/// and the session's end ends the last. Method: the server's own list of sessions.
#[test]
fn a_transaction_is_held_open_until_the_next() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    let dir = tempfile::tempdir().unwrap();
    let held = "SELECT count(*)::text || coalesce(min(backend_xmin::text), '-') FROM \
                pg_stat_activity WHERE state = 'idle in transaction'";
    let burn = "SELECT txid_current()::text";
    let all = [("SELECT count(*) FROM {table}", OpKind::Scan), (held, OpKind::Scan)];
    let all = all.into_iter().chain([(burn, OpKind::Scan)]);
    let all = all.map(|(text, kind)| procedure(kind, &[text], (0, 0, 0))).collect();
    let setup = application(CREATE, all);
    let engine = open(&spec(dir.path(), server.endpoint(), Some(setup))).unwrap();
    assert_eq!(read(&*engine, HELD), "0-");
    let mut session = engine.session().unwrap();
    let mut hold = || {
        let peek = Call {
            procedure: PEEK,
            kind: OpKind::Scan,
            table: 0,
            arguments: &[],
            bytes: b"",
            pause: model::Nanos(0),
        };
        let mut rows = Rows::new();
        assert_eq!(session.hold(&Op::Call(peek), &mut rows), Ok(Outcome::Done));
        assert_eq!(rows.count(), 1);
    };
    hold();
    let first = read(&*engine, HELD);
    assert!(first.starts_with('1') && first.len() > 2, "{first}");
    read(&*engine, 2);
    assert_eq!(read(&*engine, HELD), first, "the snapshot is as old as before");
    hold();
    let second = read(&*engine, HELD);
    assert!(second.starts_with('1') && second != first, "{first} {second}");
    drop(session);
    // The server notices the end of a session a moment later.
    assert!(wait_until(|| read(&*engine, HELD) == "0-"));
    engine.close().unwrap();
    server.stop();
}

/// Goal: an own server listens at the loopback address, requires its password there too, and the
/// record has it.
#[test]
fn an_own_server_is_reached_by_tcp() {
    for program in programs() {
        let server = TestServer::new(&program, &[("assay.transport", "tcp")]);
        let endpoint = server.endpoint();
        let Address::Tcp { host, port, .. } = &endpoint.address else { panic!("{endpoint:?}") };
        assert_eq!(host, "127.0.0.1");
        assert_eq!(server.running.facts()["server_transport"], format!("tcp 127.0.0.1:{port}"));
        let dir = tempfile::tempdir().unwrap();
        let mut without = spec(dir.path(), endpoint.clone(), None);
        without.endpoint.as_mut().unwrap().password = None;
        let error = open_error(&without).to_string();
        assert!(error.contains("requires the password"), "{error}");
        let engine = open(&spec(dir.path(), endpoint, None)).unwrap();
        let options = engine.effective_options().unwrap();
        assert_eq!(options.get("assay.transport"), Some("tcp"));
        assert_eq!(options.get("listen_addresses"), Some("127.0.0.1"));
        engine.close().unwrap();
        server.stop();
    }
}

/// Goal: clients on other machines reach an own server at the address, whatever its transport, and
/// it listens nowhere else.
#[test]
fn an_own_server_listens_at_the_address_that_clients_reach() {
    for program in programs() {
        let dir = tempfile::tempdir().unwrap();
        let options: Options = [("assay.transport", "unix")].into_iter().collect();
        let settings = settings();
        let address = Some("127.0.0.2");
        let start = Start { address, ..start(&program, dir.path(), &settings, &options) };
        let mut running = Running::start(&start, &|| false).unwrap();
        let endpoint = running.endpoint.clone();
        let Address::Tcp { host, port, .. } = &endpoint.address else { panic!("{endpoint:?}") };
        assert_eq!(host, "127.0.0.2");
        assert_eq!(running.facts()["server_transport"], format!("tcp 127.0.0.2:{port}"));
        let other = std::net::TcpStream::connect(("127.0.0.1", *port));
        assert!(other.is_err(), "it listens at another address too");
        let at = tempfile::tempdir().unwrap();
        let mut without = spec(at.path(), endpoint.clone(), None);
        without.endpoint.as_mut().unwrap().password = None;
        let error = open_error(&without).to_string();
        assert!(error.contains("requires the password"), "{error}");
        let engine = open(&spec(at.path(), endpoint, None)).unwrap();
        assert_eq!(engine.effective_options().unwrap().get("assay.transport"), Some("tcp"));
        engine.close().unwrap();
        running.stop(STOP_WITHIN).unwrap();
    }
}
