//! Calling procedures, and logging in like somebody who does not own the server.

use engine::{ApplicationSetup, EngineError, OpenSpec, Rows, Session};
use model::{Argument, Call, Endpoint, Op, OpKind, Outcome};

use crate::saying::{application, procedure};
use crate::started::{Started, open};

/// Returns an application whose procedures are statements without values.
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
    let call = Call { procedure, kind: OpKind::Define, table, arguments, bytes };
    session.execute(&Op::Call(call), rows)
}

/// Calls a procedure without values.
pub(crate) fn just_call(session: &mut dyn Session, procedure: u16) -> Result<Outcome, EngineError> {
    call(session, (procedure, 0), (&[], b""), &mut Rows::new())
}

/// Returns how to log in as to a server that others have started.
pub(crate) fn foreign(server: &Started, user: &str) -> Endpoint {
    Endpoint { user: user.to_owned(), is_foreign: true, ..server.endpoint() }
}

/// Returns the error of opening `spec`.
pub(crate) fn refused(spec: &OpenSpec) -> EngineError {
    open(spec).err().expect("it is refused")
}
