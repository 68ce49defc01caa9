//! Procedures of the application: rendered per table, prepared and called.

use engine::{ApplicationSetup, EngineError, Rows};
use model::sql::{Argument, Call, Dialect, Piece, Procedure};
use model::{OpKind, Outcome};

use crate::command::{Command, Segment};
use crate::in_flight::{ExpectedResult, InFlight};
use crate::key_value::{OpError, outcome};
use crate::tables;
use crate::wire::{Column, Connection, Failure, Value, first_as_text};

/// The procedures of an application per table copy, rendered on first call.
#[derive(Debug)]
pub(crate) struct Calls {
    /// Index of each procedure's first copy in `prepared`.
    starts: Vec<usize>,
    prepared: Vec<Option<PreparedProcedure>>,
    /// A row's first field as text.
    first: Vec<u8>,
    is_text: bool,
}

/// A procedure rendered for one table.
#[derive(Debug)]
struct PreparedProcedure {
    commands: Vec<Command>,
    is_transaction: bool,
    is_write: bool,
}

impl Calls {
    /// Reserves a slot per procedure and table.
    pub(crate) fn new(setup: Option<&ApplicationSetup>, is_text: bool) -> Self {
        let procedures = setup.map_or(&[][..], |setup| &setup.application.procedures);
        let mut starts = vec![0];
        let mut end = 0;
        for procedure in procedures {
            end += setup.map_or(0, |setup| setup.copies(procedure.table)) as usize;
            starts.push(end);
        }
        let prepared = (0..end).map(|_| None).collect();
        Self { starts, prepared, first: Vec::new(), is_text }
    }

    /// Drops prepared statements, after a reconnect.
    pub(crate) fn reset(&mut self) {
        self.prepared.iter_mut().for_each(|prepared| *prepared = None);
    }

    /// Calls a procedure; rows that it returns or writes are counted in `rows`.
    #[inline]
    pub(crate) fn call(
        &mut self,
        connection: &mut Connection,
        setup: Option<&ApplicationSetup>,
        call: &Call<'_>,
        rows: &mut Rows,
    ) -> Result<Outcome, OpError> {
        let index = self.index(call)?;
        let (is_text, first) = (self.is_text, &mut self.first);
        let prepared = match &mut self.prepared[index] {
            Some(prepared) => prepared,
            none => none.insert(render(setup, call, is_text)?),
        };
        if prepared.is_transaction {
            connection.run("START TRANSACTION")?;
        }
        let mut run = || {
            for command in &mut prepared.commands {
                execute(command, connection, call, first, rows)?;
            }
            if prepared.is_transaction {
                connection.run("COMMIT")?;
            }
            Ok(())
        };
        if let Err(failure) = run() {
            return Err(roll_back(connection, prepared.is_transaction, failure));
        }
        Ok(if prepared.is_write { Outcome::Done } else { outcome(rows) })
    }

    /// Queues a call; `None` when it is not a single prepared statement.
    #[inline]
    pub(crate) fn submit(
        &mut self,
        connection: &mut Connection,
        call: &Call<'_>,
    ) -> Result<Option<InFlight>, OpError> {
        let index = self.index(call)?;
        let Some(PreparedProcedure { commands, is_transaction: false, is_write }) =
            &mut self.prepared[index]
        else {
            return Ok(None);
        };
        let [command] = &mut commands[..] else { return Ok(None) };
        let value = given(call);
        let is_text = command.submit(connection, value)?;
        let expected = ExpectedResult::Call { is_write: *is_write };
        Ok(is_text.map(|is_text| InFlight { expected, bytes: bytes(command, value), is_text }))
    }

    /// Returns the index of the call's procedure and table.
    #[inline]
    fn index(&self, call: &Call<'_>) -> Result<usize, OpError> {
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
fn execute(
    command: &mut Command,
    connection: &mut Connection,
    call: &Call<'_>,
    first: &mut Vec<u8>,
    rows: &mut Rows,
) -> Result<(), Failure> {
    let value = given(call);
    let is_storing = rows.is_storing();
    let on_row = |column: Column, row: &[u8]| {
        if is_storing {
            first_as_text(column, row, first);
            rows.push(first, row);
        } else {
            rows.push(b"", row);
        }
    };
    let done = command.run(connection, value, is_storing, on_row)?;
    if done.affected > 0 {
        rows.wrote(done.affected, bytes(command, value));
    }
    Ok(())
}

/// Returns the values of a call by their positions.
#[inline]
fn given<'c>(call: &'c Call<'_>) -> impl Fn(usize) -> Value<'c> + Copy {
    move |position| match call.arguments.get(position) {
        Some(&Argument::Integer(value)) => Value::Integer(value),
        Some(&Argument::Real(value)) => Value::Real(value),
        Some(&Argument::Moment(seconds)) => Value::Moment(seconds),
        Some(&text @ Argument::Text { .. }) => Value::Text(call.text(text)),
        None => Value::Text(&[]),
    }
}

/// Returns the total bytes of a command's values.
#[inline]
fn bytes<'v>(command: &Command, value: impl Fn(usize) -> Value<'v>) -> u64 {
    command.positions().iter().map(|position| value(*position).bytes()).sum()
}

/// Rolls back a failed transaction.
#[cold]
fn roll_back(connection: &mut Connection, is_transaction: bool, failure: Failure) -> OpError {
    if is_transaction && !failure.is_loss() {
        // An error of the rollback shows in the next statement.
        drop(connection.run("ROLLBACK"));
    }
    failure.into()
}

#[cold]
fn unknown(call: &Call<'_>) -> OpError {
    OpError::Local(EngineError::Unsupported(format!(
        "procedure {} for table {}: the server was opened without it",
        call.procedure, call.table
    )))
}

/// Renders a procedure for the call's table.
#[cold]
fn render(
    setup: Option<&ApplicationSetup>,
    call: &Call<'_>,
    is_text: bool,
) -> Result<PreparedProcedure, OpError> {
    let found = setup.and_then(|setup| {
        let application = &setup.application;
        let procedure = application.procedures.get(usize::from(call.procedure))?;
        Some((procedure, application.tables.get(usize::from(procedure.table))?))
    });
    let (procedure, table) = found.ok_or_else(|| unknown(call))?;
    let table = tables::name(&table.name, call.table);
    // Data definition runs once: there is nothing to prepare.
    let is_text = is_text || procedure.kind == OpKind::Define;
    let statements = procedure.statements.by(Dialect::Mysql);
    let commands = statements
        .iter()
        .map(|statement| Command::new(segments(&statement.pieces(procedure), &table), is_text))
        .collect();
    Ok(PreparedProcedure {
        commands,
        is_transaction: procedure.is_transaction,
        is_write: is_write(procedure),
    })
}

/// Returns whether a call without rows counts as done.
const fn is_write(procedure: &Procedure) -> bool {
    !matches!(procedure.kind, OpKind::Get | OpKind::Scan | OpKind::MultiGet)
}

/// Substitutes the table's name and merges adjacent text.
fn segments(pieces: &[Piece<'_>], table: &str) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for piece in pieces {
        let text = match piece {
            Piece::Text(text) => *text,
            Piece::Table => table,
            Piece::Argument(position) => {
                segments.push(Segment::Value(*position));
                continue;
            }
        };
        match segments.last_mut() {
            Some(Segment::Text(before)) => before.extend_from_slice(text.as_bytes()),
            _ => segments.push(Segment::Text(text.as_bytes().to_vec())),
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_text_is_merged() {
        let pieces = [
            Piece::Text("DELETE FROM "),
            Piece::Table,
            Piece::Text(" WHERE a="),
            Piece::Argument(3),
        ];
        let text = Segment::Text(b"DELETE FROM pi7 WHERE a=".to_vec());
        assert_eq!(segments(&pieces, "pi7"), [text, Segment::Value(3)]);
    }
}
