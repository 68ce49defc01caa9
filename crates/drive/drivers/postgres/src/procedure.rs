//! Procedures of the application: rendered per table, prepared and called.

use engine::Rows;
use model::sql::{Dialect, Piece, Procedure, Statement};
use model::{Application, Call, OpKind, Outcome};

use crate::config::Protocol;
use crate::in_flight::{ExpectedResult, InFlight};
use crate::value::{Coder, write_column, write_literal};
use crate::wire::{Bound, Connection, Failure, first_column, text};

/// SQLSTATE of a parameter used as two types.
///
/// Source: Postgres' documentation, appendix A.
const AMBIGUOUS_PARAMETER: &str = "42P08";

/// A statement of a procedure on one table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StatementText {
    parts: Vec<Part>,
}

/// SQL text, or the position of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// Its position in [`Call::arguments`].
    Argument(usize),
}

impl StatementText {
    /// Renders `statement` of `procedure` for a table.
    fn new(statement: &Statement, procedure: &Procedure, table: &str) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        for piece in statement.pieces(procedure) {
            let text = match piece {
                Piece::Argument(position) => {
                    parts.push(Part::Argument(position));
                    continue;
                }
                Piece::Text(text) => text,
                Piece::Table => table,
            };
            match parts.last_mut() {
                Some(Part::Text(before)) => before.push_str(text),
                _ => parts.push(Part::Text(text.to_owned())),
            }
        }
        Self { parts }
    }

    /// Returns the text with `$1`, `$2`, ... and the argument of each.
    ///
    /// An argument used twice is one parameter when `is_shared`, else two.
    fn numbered(&self, is_shared: bool) -> (String, Vec<usize>) {
        let (mut sql, mut arguments) = (String::new(), Vec::new());
        for part in &self.parts {
            match part {
                Part::Text(text) => sql.push_str(text),
                Part::Argument(position) => {
                    let known = arguments.iter().position(|known| is_shared && known == position);
                    let number = known.unwrap_or_else(|| {
                        arguments.push(*position);
                        arguments.len() - 1
                    });
                    sql.push('$');
                    sql.push_str(&(number + 1).to_string());
                }
            }
        }
        (sql, arguments)
    }
}

/// A statement ready to be sent.
enum Ready {
    /// Prepared.
    Bound {
        bound: Bound,
        /// The argument of each parameter, with its encoding.
        values: Vec<(usize, Coder)>,
        /// Type of the first column it returns; 0 when it returns none.
        first_oid: u32,
    },
    /// To be sent as text.
    Text(StatementText),
}

impl Ready {
    fn new(
        statement_text: StatementText,
        protocol: Protocol,
        connection: &mut Connection,
        call: &Call<'_>,
    ) -> Result<Self, Failure> {
        if protocol == Protocol::Text {
            return Ok(Self::Text(statement_text));
        }
        // A shared parameter gets the type of its first use, as it should; where the uses differ in
        // type the server rejects it, and each use gets a parameter of its own.
        let (sql, mut arguments) = statement_text.numbered(true);
        let described = match connection.prepare(&sql) {
            Err(Failure::Refused(error_response)) if error_response.is(AMBIGUOUS_PARAMETER) => {
                let (sql, separate) = statement_text.numbered(false);
                arguments = separate;
                connection.prepare(&sql)?
            }
            prepared => prepared?,
        };
        let mut values = Vec::with_capacity(arguments.len());
        for (position, oid) in arguments.into_iter().zip(&described.parameters) {
            let argument =
                *call.arguments.get(position).ok_or_else(|| missing_argument(position))?;
            values.push((position, Coder::of(*oid, argument)));
        }
        let is_text: Vec<_> = values.iter().map(|(_, coder)| *coder == Coder::Text).collect();
        let bound = Bound::new(&described, &is_text)?;
        let first_oid = described.columns.first().copied().unwrap_or_default();
        Ok(Self::Bound { bound, values, first_oid })
    }

    /// Appends the statement with the call's values to the send buffer; returns the bytes of the
    /// values.
    #[inline]
    fn write(&self, connection: &mut Connection, call: &Call<'_>) -> Result<usize, Failure> {
        let out = connection.send_buffer();
        match self {
            Self::Bound { bound, values, .. } => {
                let start = bound.begin(out);
                let before = out.len();
                for (position, coder) in values {
                    let argument = *call
                        .arguments
                        .get(*position)
                        .ok_or_else(|| missing_argument(*position))?;
                    coder.write(out, argument, call.text(argument))?;
                }
                // Each value is preceded by four bytes of length.
                let bytes = out.len() - before - 4 * values.len();
                bound.end(out, start)?;
                Ok(bytes)
            }
            Self::Text(statement_text) => {
                let start = text::begin(out);
                let mut bytes = 0;
                for part in &statement_text.parts {
                    match part {
                        Part::Text(text) => out.extend_from_slice(text.as_bytes()),
                        Part::Argument(position) => {
                            let argument = *call
                                .arguments
                                .get(*position)
                                .ok_or_else(|| missing_argument(*position))?;
                            let before = out.len();
                            write_literal(out, argument, call.text(argument));
                            bytes += out.len() - before;
                        }
                    }
                }
                text::end(out, start)?;
                Ok(bytes)
            }
        }
    }

    /// Returns the type of the first column when it is binary, else 0.
    fn first_oid(&self) -> u32 {
        match self {
            Self::Bound { first_oid, .. } => *first_oid,
            Self::Text(_) => 0,
        }
    }
}

#[cold]
fn missing_argument(position: usize) -> Failure {
    Failure::Impossible(format!("the call has no value for argument {}", position + 1))
}

/// The prepared procedures of a session, by procedure and table.
pub(crate) struct Calls {
    protocol: Protocol,
    ready: Vec<Vec<Option<Vec<Ready>>>>,
    begin: Option<Bound>,
    commit: Option<Bound>,
    scratch: Vec<u8>,
}

impl Calls {
    pub(crate) fn new(protocol: Protocol) -> Self {
        Self { protocol, ready: Vec::new(), begin: None, commit: None, scratch: Vec::new() }
    }

    /// Calls a procedure.
    ///
    /// Each statement is a round trip, and so are `BEGIN` and `COMMIT`, as for an application.
    pub(crate) fn call(
        &mut self,
        connection: &mut Connection,
        application: &Application,
        call: &Call<'_>,
        rows: &mut Rows,
    ) -> Result<Outcome, Failure> {
        let at = usize::from(call.procedure);
        let Some(procedure) = application.procedures.get(at) else {
            return Err(Failure::Impossible(format!("there is no procedure {at}")));
        };
        self.prepare(connection, application, procedure, call)?;
        if procedure.is_transaction {
            control(&mut self.begin, self.protocol, connection, "BEGIN")?;
        }
        let table = call.table as usize;
        let ready = self.ready.get(at).and_then(|tables| tables.get(table)?.as_deref());
        for statement in ready.unwrap_or_default() {
            run(statement, connection, call, rows, &mut self.scratch)?;
        }
        if procedure.is_transaction {
            control(&mut self.commit, self.protocol, connection, "COMMIT")?;
        }
        let is_empty = is_read(procedure) && rows.count() == 0;
        Ok(if is_empty { Outcome::NotFound } else { Outcome::Done })
    }

    /// Appends a call to the send buffer; `None` when it is not a single prepared statement.
    #[inline]
    pub(crate) fn submit(
        &self,
        connection: &mut Connection,
        application: &Application,
        call: &Call<'_>,
    ) -> Result<Option<InFlight>, Failure> {
        let at = usize::from(call.procedure);
        let table = call.table as usize;
        let ready = self.ready.get(at).and_then(|tables| tables.get(table)?.as_deref());
        match (application.procedures.get(at), ready) {
            (Some(procedure), Some([statement])) if !procedure.is_transaction => {
                let bytes = statement.write(connection, call)? as u64;
                let is_read = is_read(procedure);
                Ok(Some(InFlight { expected: ExpectedResult::Call { is_read }, bytes }))
            }
            _ => Ok(None),
        }
    }

    /// Prepares a procedure for one table, once.
    #[inline]
    fn prepare(
        &mut self,
        connection: &mut Connection,
        application: &Application,
        procedure: &Procedure,
        call: &Call<'_>,
    ) -> Result<(), Failure> {
        let (at, table) = (usize::from(call.procedure), call.table as usize);
        if self.ready.get(at).and_then(|tables| tables.get(table)?.as_ref()).is_some() {
            return Ok(());
        }
        let name = table_name(application, procedure.table, call.table)
            .ok_or_else(|| Failure::Impossible(format!("`{}`: no such table", procedure.name)))?;
        let statements = procedure.statements.by(Dialect::Postgres);
        let mut ready = Vec::with_capacity(statements.len());
        for statement in statements {
            let statement_text = StatementText::new(statement, procedure, &name);
            ready.push(Ready::new(statement_text, self.protocol, connection, call)?);
        }
        if self.ready.len() <= at {
            self.ready.resize_with(at + 1, Vec::new);
        }
        let tables = &mut self.ready[at];
        if tables.len() <= table {
            tables.resize_with(table + 1, || None);
        }
        tables[table] = Some(ready);
        Ok(())
    }
}

/// Returns whether a call without rows means not found.
const fn is_read(procedure: &Procedure) -> bool {
    matches!(procedure.kind, OpKind::Get | OpKind::Scan | OpKind::MultiGet)
}

/// Returns the name of copy `number` (from 0) of the table at `position`.
pub(crate) fn table_name(application: &Application, position: u16, number: u32) -> Option<String> {
    let table = application.tables.get(usize::from(position))?;
    Some(format!("{}{}", table.name, u64::from(number) + 1))
}

/// Executes one statement.
fn run(
    statement: &Ready,
    connection: &mut Connection,
    call: &Call<'_>,
    rows: &mut Rows,
    scratch: &mut Vec<u8>,
) -> Result<(), Failure> {
    let bytes = statement.write(connection, call)?;
    let answer = connection.exchange(|row| {
        if rows.is_storing() {
            scratch.clear();
            write_column(statement.first_oid(), first_column(row), scratch);
            rows.push(scratch, row);
        } else {
            rows.push(b"", row);
        }
    })?;
    if answer.affected > 0 {
        rows.wrote(answer.affected, bytes as u64);
    }
    Ok(())
}

/// Sends `BEGIN` or `COMMIT`.
fn control(
    bound: &mut Option<Bound>,
    protocol: Protocol,
    connection: &mut Connection,
    sql: &str,
) -> Result<(), Failure> {
    if protocol == Protocol::Text {
        return connection.run(sql);
    }
    if bound.is_none() {
        *bound = Some(Bound::new(&connection.prepare(sql)?, &[])?);
    }
    let Some(bound) = bound else { return Ok(()) };
    let out = connection.send_buffer();
    let start = bound.begin(out);
    bound.end(out, start)?;
    connection.exchange(|_| {}).map(|_| ())
}

#[cfg(test)]
mod tests {
    use model::sql::{Draw, Part as SourcePart, PerDialect};

    use super::*;

    fn procedure(rows: u32) -> Procedure {
        Procedure {
            name: "p".to_owned(),
            kind: OpKind::Insert,
            table: 0,
            is_transaction: false,
            statements: PerDialect::default(),
            arguments: vec![Draw::Id],
            row: vec![Draw::Id],
            rows,
            rows_expected: None,
        }
    }

    #[test]
    fn argument_used_twice_is_one_parameter_or_two() {
        let text = |text: &str| SourcePart::Text(text.to_owned());
        let statement = Statement {
            parts: vec![
                text("SELECT "),
                SourcePart::Argument(0),
                text(" FROM "),
                SourcePart::Table,
                text(" WHERE id IN ("),
                SourcePart::Rows(vec![SourcePart::RowArgument(0)]),
                text(") AND x > "),
                SourcePart::Argument(0),
            ],
        };
        let statement_text = StatementText::new(&statement, &procedure(2), "pi7");
        let (sql, arguments) = statement_text.numbered(true);
        assert_eq!(sql, "SELECT $1 FROM pi7 WHERE id IN ($2, $3) AND x > $1");
        assert_eq!(arguments, [0, 1, 2]);
        let (sql, arguments) = statement_text.numbered(false);
        assert_eq!(sql, "SELECT $1 FROM pi7 WHERE id IN ($2, $3) AND x > $4");
        assert_eq!(arguments, [0, 1, 2, 0]);
    }
}
