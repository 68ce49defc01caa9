//! Transactions held open, connections by TCP, statements for `MyRocks`.

use engine::{EngineError, Rows};
use model::sql::Argument;
use model::{Address, Call, Nanos, Op, Outcome, Tls};

use crate::application::{ALL, DEFINE, OPEN, sales, statement};
use crate::fixture::{Fixture, call};
use crate::procedures::insert;
use crate::test_server::Server;

/// Goal: a hold leaves one transaction open with a snapshot; the next ends it and begins another.
/// Method: the list of `InnoDB`'s transactions, and rows that the snapshot lacks.
pub(crate) fn a_transaction_is_held_open_until_the_next(fixture: &Fixture) {
    let (engine, _dir) = fixture.open(sales());
    let mut writer = engine.session().expect("there is room");
    insert(&mut *writer, 7).expect("rows are inserted");
    let mut session = engine.session().expect("there is room");
    let mut hold = || {
        let (procedure, kind) = ALL;
        let all =
            Call { procedure, kind, table: 0, arguments: &[], bytes: &[], pause: model::Nanos(0) };
        let mut rows = Rows::new();
        assert_eq!(session.hold(&Op::Call(all), &mut rows), Ok(Outcome::Done));
        rows.count()
    };
    assert_eq!(hold(), 3);
    insert(&mut *writer, 70).expect("rows are inserted");
    let mut open = || call(&mut *writer, OPEN, &[], &[]).expect("they are listed").1;
    assert_eq!(open(), 1);
    assert_eq!(hold(), 6, "a snapshot of its own");
    assert_eq!(open(), 1);
}

/// Goal: an own server listens at an address alone, and requires its password there too.
pub(crate) fn an_own_server_is_reached_by_tcp(server: &Server, fixture: &Fixture, at: &str) {
    let Address::Tcp { host, port, .. } = &fixture.endpoint.address else {
        panic!("{:?}", fixture.endpoint)
    };
    assert_eq!(host, at);
    assert_eq!(server.running().facts()["server_transport"], format!("tcp {at}:{port}"));
    let listens = |ip| std::net::TcpStream::connect((ip, *port)).is_ok();
    assert_eq!(
        ["127.0.0.1", "127.0.0.2"].map(listens),
        ["127.0.0.1", "127.0.0.2"].map(|it| it == at)
    );
    let (spec, _dir) = fixture.fresh(Some(sales()));
    let mut without = spec.clone();
    without.endpoint.as_mut().expect("it has one").password = None;
    let error = fixture.driver.open(&without).err().expect("it has a password").to_string();
    assert!(error.contains("1045"), "{error}");
    let engine = fixture.driver.open(&spec).expect("the server is good");
    let options = engine.effective_options().expect("they are listed");
    assert_eq!(options.get("assay.transport"), Some("tcp"));
    assert_eq!((options.get("bind_address"), options.get("port")), (Some(at), None));
    insert(&mut *engine.session().expect("there is room"), 1).expect("rows are inserted");
    let round_trip = engine.server().expect("a server").round_trip().expect("it answers");
    assert!(round_trip.is_some_and(|it| it.0 > 0 && it < Nanos::SECOND), "{round_trip:?}");
}

/// Goal: what the address demands is done. Method: the certificate that the server makes for itself
/// names no host, so it is encrypted for, and verified by giving itself as the root alone.
pub(crate) fn connections_are_encrypted(server: &Server, fixture: &Fixture) {
    let open = |tls: Tls| {
        let (mut spec, _dir) = fixture.fresh(Some(sales()));
        let endpoint = spec.endpoint.as_mut().expect("it has one");
        endpoint.is_foreign = true;
        let Address::Tcp { tls: demanded, .. } = &mut endpoint.address else { panic!("{tls:?}") };
        *demanded = tls;
        let engine = fixture.driver.open(&spec)?;
        insert(&mut *engine.session()?, 1).expect("rows are inserted");
        let options = engine.effective_options()?;
        Ok::<_, EngineError>(options.get("assay.transport").map(str::to_owned))
    };
    let transport = open(Tls::Unverified).expect("the server has TLS");
    assert_eq!(transport.as_deref(), Some("tls, certificate not verified"));
    let file = |name| Tls::Verified(server.running().site.data.join(name));
    let error = open(file("ca.pem")).expect_err("it is for no host").to_string();
    assert!(error.contains("names no host"), "{error}");
    let transport = open(file("server-cert.pem")).expect("it is the server's own");
    assert_eq!(transport.as_deref(), Some("tls, certificate verified"));
}

/// Goal: `MyRocks` gets its own statements. Method: only those can be executed.
pub(crate) fn myrocks_has_statements_of_its_own(fixture: &Fixture) {
    let mut application = sales();
    let define = &mut application.procedures[usize::from(DEFINE.0)];
    define.myrocks = std::mem::take(&mut define.statements.mysql);
    define.statements.mysql = vec![statement("ALTER TABLE {} ADD INDEX (no_such_column)")];
    let (spec, _dir) = fixture.fresh(Some(application));
    let engine = fixture.driver.open(&spec).expect("the server is good");
    let mut session = engine.session().expect("there is room");
    let none: &[Argument] = &[];
    call(&mut *session, DEFINE, none, &[]).expect("the index is built");
}
