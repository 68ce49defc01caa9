//! Calls of an application's procedures.

use engine::{ApplicationSetup, EngineError, Rows};
use model::sql::{Argument, Call, Dialect, Piece, Procedure};
use model::{OpKind, Outcome};

use crate::command::{Bit, Command};
use crate::flight::{Flight, Shape};
use crate::key_value::{Trouble, outcome};
use crate::tables;
use crate::wire::{Column, Connection, Failure, Value, first_as_text};

/// The procedures of an application for each copy of their tables, written out when first called.
#[derive(Debug)]
pub(crate) struct Calls {
    /// Where a procedure's copies begin in `written`.
    starts: Vec<usize>,
    written: Vec<Option<Written>>,
    /// A row's first field as text.
    first: Vec<u8>,
    is_text: bool,
}

/// A procedure for one table.
#[derive(Debug)]
struct Written {
    commands: Vec<Command>,
    is_transaction: bool,
    is_write: bool,
}

impl Calls {
    /// Returns room for every procedure and table.
    pub(crate) fn new(asked: Option<&ApplicationSetup>, is_text: bool) -> Self {
        let procedures = asked.map_or(&[][..], |asked| &asked.application.procedures);
        let mut starts = vec![0];
        let mut end = 0;
        for procedure in procedures {
            end += asked.map_or(0, |asked| asked.copies(procedure.table)) as usize;
            starts.push(end);
        }
        let written = (0..end).map(|_| None).collect();
        Self { starts, written, first: Vec::new(), is_text }
    }

    /// Forgets what was prepared: the connection is another.
    pub(crate) fn forget(&mut self) {
        self.written.iter_mut().for_each(|written| *written = None);
    }

    /// Calls a procedure; rows that it returns or writes are told to `rows`.
    #[inline]
    pub(crate) fn call(
        &mut self,
        connection: &mut Connection,
        asked: Option<&ApplicationSetup>,
        call: &Call<'_>,
        rows: &mut Rows,
    ) -> Result<Outcome, Trouble> {
        let place = self.place(call)?;
        let (is_text, first) = (self.is_text, &mut self.first);
        let written = match &mut self.written[place] {
            Some(written) => written,
            none => none.insert(write_out(asked, call, is_text)?),
        };
        if written.is_transaction {
            connection.run("START TRANSACTION")?;
        }
        let mut run = || {
            for command in &mut written.commands {
                execute(command, connection, call, first, rows)?;
            }
            if written.is_transaction {
                connection.run("COMMIT")?;
            }
            Ok(())
        };
        if let Err(failure) = run() {
            return Err(roll_back(connection, written.is_transaction, failure));
        }
        Ok(if written.is_write { Outcome::Done } else { outcome(rows) })
    }

    /// Keeps a call to be sent with others; `None` when it is not one statement, prepared.
    #[inline]
    pub(crate) fn submit(
        &mut self,
        connection: &mut Connection,
        call: &Call<'_>,
    ) -> Result<Option<Flight>, Trouble> {
        let place = self.place(call)?;
        let Some(Written { commands, is_transaction: false, is_write }) = &mut self.written[place]
        else {
            return Ok(None);
        };
        let [command] = &mut commands[..] else { return Ok(None) };
        let value = given(call);
        let is_text = command.submit(connection, value)?;
        let shape = Shape::Call { is_write: *is_write };
        Ok(is_text.map(|is_text| Flight { shape, bytes: bytes(command, value), is_text }))
    }

    /// Returns where the call's procedure for its table is kept.
    #[inline]
    fn place(&self, call: &Call<'_>) -> Result<usize, Trouble> {
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

/// Returns the bytes of a command's values.
#[inline]
fn bytes<'v>(command: &Command, value: impl Fn(usize) -> Value<'v>) -> u64 {
    command.positions().iter().map(|position| value(*position).bytes()).sum()
}

/// Undoes a transaction that failed.
#[cold]
fn roll_back(connection: &mut Connection, is_transaction: bool, failure: Failure) -> Trouble {
    if is_transaction && !failure.is_loss() {
        // What stands in the way of that is found by the next statement.
        drop(connection.run("ROLLBACK"));
    }
    failure.into()
}

#[cold]
fn unknown(call: &Call<'_>) -> Trouble {
    Trouble::Ours(EngineError::Unsupported(format!(
        "procedure {} for table {}: the server was opened without it",
        call.procedure, call.table
    )))
}

/// Writes a procedure out for the call's table.
#[cold]
fn write_out(
    asked: Option<&ApplicationSetup>,
    call: &Call<'_>,
    is_text: bool,
) -> Result<Written, Trouble> {
    let found = asked.and_then(|asked| {
        let application = &asked.application;
        let procedure = application.procedures.get(usize::from(call.procedure))?;
        Some((procedure, application.tables.get(usize::from(procedure.table))?))
    });
    let (procedure, table) = found.ok_or_else(|| unknown(call))?;
    let table = tables::name(&table.name, call.table);
    // What changes a table's shape runs once: there is nothing to prepare.
    let is_text = is_text || procedure.kind == OpKind::Define;
    let statements = procedure.statements.by(Dialect::Mysql);
    let commands = statements
        .iter()
        .map(|statement| Command::new(bits(&statement.pieces(procedure), &table), is_text))
        .collect();
    Ok(Written {
        commands,
        is_transaction: procedure.is_transaction,
        is_write: is_write(procedure),
    })
}

/// Returns whether a call that returns no rows has done what it should.
const fn is_write(procedure: &Procedure) -> bool {
    !matches!(procedure.kind, OpKind::Get | OpKind::Scan | OpKind::MultiGet)
}

/// Returns pieces with the table's name in place, words put together.
fn bits(pieces: &[Piece<'_>], table: &str) -> Vec<Bit> {
    let mut bits: Vec<Bit> = Vec::new();
    for piece in pieces {
        let words = match piece {
            Piece::Text(text) => *text,
            Piece::Table => table,
            Piece::Argument(position) => {
                bits.push(Bit::Value(*position));
                continue;
            }
        };
        match bits.last_mut() {
            Some(Bit::Words(before)) => before.extend_from_slice(words.as_bytes()),
            _ => bits.push(Bit::Words(words.as_bytes().to_vec())),
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_put_together_around_the_values() {
        let pieces = [
            Piece::Text("DELETE FROM "),
            Piece::Table,
            Piece::Text(" WHERE a="),
            Piece::Argument(3),
        ];
        let words = Bit::Words(b"DELETE FROM pi7 WHERE a=".to_vec());
        assert_eq!(bits(&pieces, "pi7"), [words, Bit::Value(3)]);
    }
}
