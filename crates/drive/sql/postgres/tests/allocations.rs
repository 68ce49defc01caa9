//! A warm session allocates nothing, measured by a counting allocator.

#![expect(clippy::print_stdout, reason = "a skipped test prints the reason")]

#[path = "live/application.rs"]
mod application;
#[path = "live/newest.rs"]
mod newest;
#[path = "live/test_server.rs"]
mod test_server;

use std::alloc::System;

use engine::{Rows, Session};
use model::sql::{Condition, Read, ReadKind};
use model::{Argument, Call, Direction, Op, OpKind};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Returns the allocations of `operations` repeated, after as many to warm up.
fn allocations(session: &mut dyn Session, operations: &[Op<'_>]) -> usize {
    let mut rows = Rows::new();
    let mut repeat = || {
        for op in operations.iter().cycle().take(100) {
            rows.clear(false);
            session.execute(op, &mut rows).expect("it is done");
        }
    };
    repeat();
    let region = Region::new(ALLOCATOR);
    repeat();
    region.change().allocations
}

/// Goal: no operation allocates once warm, prepared or as text.
#[test]
fn warm_session_allocates_nothing() {
    let Some(program) = newest::newest() else { return };
    let server = test_server::TestServer::new(&program, &[]);
    let key_value = [
        Op::Put { key: b"a", value: b"1" },
        Op::Put { key: b"b", value: &[7; 5000] },
        Op::Get { key: b"b" },
        Op::Get { key: b"absent" },
        Op::Scan { start: b"a", limit: 10, direction: Direction::Forward },
        Op::Scan { start: b"z", limit: 1000, direction: Direction::Reverse },
        Op::MultiGet { keys: &[b"b", b"absent", b"a"] },
        Op::Delete { key: b"a" },
    ];
    let none = Argument::Text { start: 0, end: 0 };
    let arguments =
        [Argument::Real(0.5), Argument::Text { start: 0, end: 4 }, Argument::Real(0.0), none];
    let transaction = Op::Call(Call {
        procedure: 0,
        kind: OpKind::Transaction,
        table: 0,
        arguments: &arguments,
        bytes: b"word",
        pause: model::Nanos(0),
    });
    let statements = [
        "INSERT INTO {table} (price, note) VALUES ({0}, {1})",
        "SELECT count(*) FROM {table}",
        "SELECT price, note FROM {table} WHERE id = 1",
        "UPDATE {table} SET note = {3} WHERE price > {2}",
    ];
    let mut procedure = application::procedure(OpKind::Transaction, &statements, (4, 0, 0));
    // Values are read back, and a statement depends on them.
    let [_, _, reading, changing] = &mut procedure.statements.postgres[..] else {
        panic!("four statements")
    };
    let read = |argument, kind| Read { argument, kind };
    reading.reads = vec![read(2, ReadKind::Real), read(3, ReadKind::Text)];
    changing.conditions = vec![Condition::Found(true)];
    let create = "CREATE TABLE {table} (id BIGSERIAL, price REAL, note TEXT)";
    for protocol in ["prepared", "text"] {
        for (application, operations) in [
            (None, &key_value[..]),
            (Some(application::application(create, vec![procedure.clone()])), &[transaction]),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let mut spec = test_server::spec(dir.path(), server.endpoint(), application);
            spec.options.set("assay.protocol", protocol);
            let engine = test_server::open(&spec).unwrap();
            let mut session = engine.session().unwrap();
            assert_eq!(allocations(&mut *session, operations), 0, "{protocol}");
            drop(session);
            engine.close().unwrap();
        }
    }
    server.stop();
}
