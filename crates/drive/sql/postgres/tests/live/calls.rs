//! Procedure calls and foreign logins for the tests.

use engine::{ApplicationSetup, EngineError, OpenSpec, Rows, Session};
use model::{Argument, Call, Endpoint, Op, OpKind, Outcome};

use crate::application::{application, procedure};
use crate::test_server::{TestServer, open};

/// Returns an application of statements without values.
pub(crate) fn statements(statements: &[&str]) -> ApplicationSetup {
    let define = |text: &&str| procedure(OpKind::Define, &[*text], (0, 0, 0));
    let procedures = statements.iter().map(define).collect();
    application("CREATE TABLE {table} (id BIGINT PRIMARY KEY)", procedures)
}

/// Calls a procedure on copy `table` of its table.
pub(crate) fn call(
    session: &mut dyn Session,
    (procedure, table): (u16, u32),
    (arguments, bytes): (&[Argument], &[u8]),
    rows: &mut Rows,
) -> Result<Outcome, EngineError> {
    rows.clear(true);
    let call =
        Call { procedure, kind: OpKind::Define, table, arguments, bytes, pause: model::Nanos(0) };
    session.execute(&Op::Call(call), rows)
}

/// Calls a procedure without values.
pub(crate) fn just_call(session: &mut dyn Session, procedure: u16) -> Result<Outcome, EngineError> {
    call(session, (procedure, 0), (&[], b""), &mut Rows::new())
}

/// Returns the first column of a row of the protocol, a text.
pub(crate) fn first_column(row: &[u8]) -> String {
    let (length, rest) = row[2..].split_first_chunk::<4>().expect("a row has a column");
    let length = usize::try_from(u32::from_be_bytes(*length)).expect("it is short");
    String::from_utf8(rest[..length].to_vec()).expect("a text")
}

/// Returns the endpoint of the server as a foreign one.
pub(crate) fn foreign(server: &TestServer, user: &str) -> Endpoint {
    Endpoint { user: user.to_owned(), is_foreign: true, ..server.endpoint() }
}

/// Returns the error of opening `spec`.
pub(crate) fn open_error(spec: &OpenSpec) -> EngineError {
    open(spec).err().expect("opening fails")
}
