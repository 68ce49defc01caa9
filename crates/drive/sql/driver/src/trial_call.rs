//! Check of a procedure's statements, before anything is loaded.

use engine::{EngineError, Refusal};
use model::sql::StatementOwner;
use model::{Call, OpKind};

use crate::connection::Connection;
use crate::database::{Database, SqlEngine};
use crate::failure::{ErrorResponse, Failure};
use crate::procedure::{RenderedProcedure, render};
use crate::template::Value;

/// The end of a call's statements: the position of one that failed, and why.
type Executed<E> = Result<(), (usize, Failure<E>)>;

/// Executes a call once, so that names and types of every statement are known to be right.
///
/// Its rows stay for the procedures that follow: an update in MySQL evaluates its values only for
/// rows that it finds. A statement that takes too long or violates a constraint counts as right:
/// both depend on the rows, and so does a commit, at which deferred constraints are checked. An
/// insert whose drawn values violate NOT NULL or CHECK is an error: no other rows matter to these.
/// A statement that waits too long for a lock is an error: other sessions hold the lock.
///
/// After each statement the durability class is read back: a statement may set it for its session.
pub(crate) fn check_call<D: Database>(
    engine: &SqlEngine<D>,
    connection: &mut D::Connection,
    call: &Call<'_>,
) -> Result<(), EngineError> {
    let mut rendered = render::<D::Connection>(engine.known(), call)?;
    if rendered.is_transaction {
        connection.run(D::Connection::SQL.begin)?;
    }
    let executed = execute_all(engine, connection, &mut rendered, call);
    let end = if executed.is_ok() { "COMMIT" } else { "ROLLBACK" };
    if rendered.is_transaction && !is_loss(&executed) {
        match connection.run(end) {
            Err(failure) if is_of_others(&failure) => return Err(failure.into()),
            Err(failure) if !depends_on_rows(&failure) => {
                let name = engine.procedure_name(call.procedure);
                let text = format!("the {end} of procedure `{name}` fails: {failure}");
                return Err(EngineError::Fatal(text));
            }
            Ok(()) | Err(_) => {}
        }
    }
    match executed {
        Err((_, failure)) if is_of_others(&failure) => Err(failure.into()),
        Err((index, failure))
            if !depends_on_rows(&failure) || is_certain(&rendered, call, index, &failure) =>
        {
            let owner = StatementOwner::Procedure(engine.procedure_name(call.procedure));
            Err(Refusal::Statement { owner, index, reason: failure.to_string() }.into())
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Executes the statements, whatever their conditions; returns the position of one that failed.
///
/// A value that is read from a result is bound as drawn: zero, or empty.
fn execute_all<D: Database>(
    engine: &SqlEngine<D>,
    connection: &mut D::Connection,
    rendered: &mut RenderedProcedure<D::Connection>,
    call: &Call<'_>,
) -> Executed<<D::Connection as Connection>::Error> {
    let RenderedProcedure { commands, steps, .. } = rendered;
    for (index, step) in steps.iter().enumerate().filter(|(_, step)| !step.is_rollback) {
        let value = |at: usize| Value::of(call, step.positions[at]);
        let done = commands[step.command].run(connection, value, |_, _| {});
        let checked = done.and_then(|_rows| engine.check_durability(connection));
        checked.map_err(|failure| (index, failure))?;
    }
    Ok(())
}

/// Returns whether an insert violates a constraint by its own values.
fn is_certain<C: Connection>(
    rendered: &RenderedProcedure<C>,
    call: &Call<'_>,
    index: usize,
    failure: &Failure<C::Error>,
) -> bool {
    let is_of_value = matches!(failure, Failure::Refused(response) if response.is_of_value());
    call.kind == OpKind::Insert && is_of_value && rendered.is_unconditional(index)
}

/// Returns whether others hold a lock for too long.
fn is_of_others<E: ErrorResponse>(failure: &Failure<E>) -> bool {
    matches!(failure, Failure::Refused(response) if response.is_lock_wait())
}

fn is_loss<E: ErrorResponse>(executed: &Executed<E>) -> bool {
    matches!(executed, Err((_, failure)) if failure.is_loss())
}

/// Returns whether a statement may succeed on other rows, or with more time.
fn depends_on_rows<E: ErrorResponse>(failure: &Failure<E>) -> bool {
    match failure {
        Failure::Refused(response) => response.is_loss() || response.depends_on_rows(),
        Failure::Lost(_) | Failure::Unreachable(_) => true,
        Failure::Rejected(_) | Failure::Unread(_) => false,
    }
}
