//! Procedures of the application: rendered per table, prepared and called.

use engine::{ApplicationSetup, Rows};
use model::sql::{Procedure, Protocol};
use model::{Call, OpKind, Outcome};

use crate::command::Command;
use crate::config::Config;
use crate::connection::{Connection, Reply};
use crate::failure::Failure;
use crate::key_value::{ExpectedResult, InFlight, outcome};
use crate::tables;
use crate::template::{Template, Value};

/// How a server is used, and the application.
pub(crate) type Known<'a, C> =
    (&'a Config<<C as Connection>::Session>, Option<&'a ApplicationSetup>);

/// The procedures of an application per table copy, rendered on first call.
pub(crate) struct Calls<C: Connection> {
    /// Index of each procedure's first copy in `rendered`.
    starts: Vec<usize>,
    rendered: Vec<Option<RenderedProcedure<C>>>,
    begin: Command<C>,
    commit: Command<C>,
}

/// A procedure rendered for one table.
pub(crate) struct RenderedProcedure<C: Connection> {
    pub(crate) commands: Vec<Command<C>>,
    pub(crate) is_transaction: bool,
    is_read: bool,
}

impl<C: Connection> Calls<C> {
    /// Reserves a slot per procedure and table.
    pub(crate) fn new(setup: Option<&ApplicationSetup>, config: &Config<C::Session>) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for procedure in setup.iter().flat_map(|setup| &setup.application.procedures) {
            end += setup.map_or(0, |setup| setup.copies(procedure.table)) as usize;
            starts.push(end);
        }
        let of_begin =
            if C::SQL.is_begin_prepared { config.plain_protocol() } else { Protocol::Text };
        Self {
            starts,
            rendered: (0..end).map(|_| None).collect(),
            begin: Command::parse(C::SQL.begin, of_begin),
            commit: Command::parse("COMMIT", of_begin),
        }
    }

    /// Calls a procedure; rows that it returns or writes are counted in `rows`.
    ///
    /// Each statement is a round trip, and so are begin and commit, as for an application.
    #[inline]
    pub(crate) fn call(
        &mut self,
        connection: &mut C,
        (config, setup): Known<'_, C>,
        call: &Call<'_>,
        rows: &mut Rows,
    ) -> Reply<Outcome, C> {
        let index = self.index(call)?;
        let Self { rendered, begin, commit, .. } = self;
        let rendered = match &mut rendered[index] {
            Some(rendered) => rendered,
            none => none.insert(render::<C>((config, setup), call)?),
        };
        let mut run = || {
            if rendered.is_transaction {
                begin.run(connection, |_| Value::Integer(0), |_, _| {})?;
            }
            for command in &mut rendered.commands {
                execute(command, connection, call, rows)?;
            }
            if rendered.is_transaction {
                commit.run(connection, |_| Value::Integer(0), |_, _| {})?;
            }
            Ok(())
        };
        if let Err(failure) = run() {
            return Err(roll_back(connection, rendered.is_transaction, failure));
        }
        Ok(if rendered.is_read { outcome(rows) } else { Outcome::Done })
    }

    /// Calls a procedure in a transaction with a snapshot, which is left open.
    ///
    /// `is_open` is whether one is open, before and after.
    pub(crate) fn hold(
        &mut self,
        (connection, is_open): (&mut C, &mut bool),
        known: Known<'_, C>,
        call: &Call<'_>,
        rows: &mut Rows,
    ) -> Reply<Outcome, C> {
        if std::mem::take(is_open) {
            connection.run("COMMIT")?;
        }
        for statement in C::SQL.hold {
            connection.run(statement)?;
        }
        let done = self.call(connection, known, call, rows);
        *is_open = done.is_ok();
        done.map_err(|failure| roll_back(connection, true, failure))
    }

    /// Queues a call; `None` when it is not a single prepared statement.
    #[inline]
    pub(crate) fn submit(
        &mut self,
        connection: &mut C,
        call: &Call<'_>,
    ) -> Reply<Option<InFlight>, C> {
        let index = self.index(call)?;
        let Some(RenderedProcedure { commands, is_transaction: false, is_read }) =
            &mut self.rendered[index]
        else {
            return Ok(None);
        };
        let [command] = &mut commands[..] else { return Ok(None) };
        let expected = ExpectedResult::Call { is_read: *is_read };
        let queued = command.submit(connection, |position| Value::of(call, position))?;
        Ok(queued.map(|(bytes, is_text)| InFlight { expected, bytes, is_text }))
    }

    /// Returns the index of the call's procedure and table.
    #[inline]
    fn index(&self, call: &Call<'_>) -> Reply<usize, C> {
        let procedure = usize::from(call.procedure);
        match self.starts.get(procedure..procedure + 2) {
            Some(&[start, end]) if (call.table as usize) < end - start => {
                Ok(start + call.table as usize)
            }
            _ => Err(unknown(call)),
        }
    }
}

#[inline]
fn execute<C: Connection>(
    command: &mut Command<C>,
    connection: &mut C,
    call: &Call<'_>,
    rows: &mut Rows,
) -> Reply<(), C> {
    let value = |position| Value::of(call, position);
    let (affected, bytes) = command.run(connection, value, |_, row| rows.push(b"", row))?;
    if affected > 0 {
        rows.wrote(affected, bytes);
    }
    Ok(())
}

/// Rolls back a failed transaction; a loss meanwhile is the failure.
#[cold]
fn roll_back<C: Connection>(
    connection: &mut C,
    is_begun: bool,
    failure: Failure<C::Error>,
) -> Failure<C::Error> {
    if failure.is_loss() || !connection.is_in_transaction(is_begun) {
        return failure;
    }
    connection.run("ROLLBACK").err().filter(Failure::is_loss).unwrap_or(failure)
}

#[cold]
fn unknown<E>(call: &Call<'_>) -> Failure<E> {
    Failure::Rejected(format!(
        "procedure {} for table {}: no application was opened with it",
        call.procedure, call.table
    ))
}

/// Renders a procedure for the call's table.
#[cold]
pub(crate) fn render<C: Connection>(
    (config, setup): Known<'_, C>,
    call: &Call<'_>,
) -> Reply<RenderedProcedure<C>, C> {
    let found = setup.and_then(|setup| {
        let procedure = setup.application.procedures.get(usize::from(call.procedure))?;
        setup.application.tables.get(usize::from(procedure.table))?;
        Some((setup, procedure))
    });
    let (setup, procedure) = found.ok_or_else(|| unknown(call))?;
    let table = |position| tables::reached(setup, position, call.table);
    let protocol = config.protocol_of(procedure, C::SQL.dialect);
    let statements = procedure.statements.by(C::SQL.dialect).iter();
    let templates = statements.map(|statement| Template::render(statement, procedure, table));
    Ok(RenderedProcedure {
        commands: templates.map(|text| Command::new(text, protocol)).collect(),
        is_transaction: procedure.is_transaction,
        is_read: is_read(procedure),
    })
}

/// Returns whether a call without rows means not found.
const fn is_read(procedure: &Procedure) -> bool {
    matches!(procedure.kind, OpKind::Get | OpKind::Scan | OpKind::MultiGet)
}
