//! Plans and totals of a procedure's statements, as the server reports them.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::EngineError;
use model::sql::Protocol;
use model::{Call, OpKind, StatementState, StatementTotals};

use crate::connection::Connection;
use crate::database::{Database, SqlEngine};
use crate::explain::{SentStatement, StatementEntry, Statements as _};
use crate::failure::{ErrorResponse as _, Failure, unless_refused};
use crate::procedure::{RenderedProcedure, render};
use crate::template::{Template, Value};

/// Longest time of one statement that is explained or executed.
///
/// Our choice: of a slower one the plan is stored as it is estimated.
const WITHIN: Duration = Duration::from_secs(5);

/// Returns the statements of a call; none of data definition.
pub(crate) fn statements<D: Database>(
    engine: &SqlEngine<D>,
    call: &Call<'_>,
    executes: bool,
) -> Result<Vec<StatementState>, EngineError> {
    let setup = engine.setup.as_ref();
    let procedures = setup.map_or(&[][..], |setup| &setup.application.procedures);
    let kind = procedures.get(usize::from(call.procedure)).map(|procedure| procedure.kind);
    if kind == Some(OpKind::Define) {
        return Ok(Vec::new());
    }
    let rendered = render::<D::Connection>((&engine.config, setup), call)?;
    let mut inspection = Inspection::<D>::new(engine, call)?;
    let mut states = Vec::new();
    for (number, step) in (1..).zip(&rendered.steps) {
        // The same statement on other values has the same plan.
        if step.is_rollback || step.number != number {
            continue;
        }
        let Some((template, _)) = rendered.commands[step.command].unprepared() else { continue };
        inspection.positions.clone_from(&step.positions);
        let (sql, _) = template.with_placeholders(false, |_| "?".to_owned());
        let (plan, text) = inspection.plan(template, executes && is_read(&sql))?;
        let found = inspection.entries_of(number as usize - 1)?;
        let totals = found.iter().map(|entry| entry.totals).reduce(StatementTotals::plus);
        let entries = found.into_iter().map(|entry| entry.id).collect();
        states.push(StatementState { number, plan, text, totals, entries });
    }
    Ok(states)
}

/// Returns whether a statement only reads, and locks nothing.
fn is_read(sql: &str) -> bool {
    let sql = sql.trim_start().to_ascii_lowercase();
    sql.starts_with("select") && !sql.contains(" for ")
}

struct Inspection<'e, D: Database> {
    engine: &'e SqlEngine<D>,
    call: &'e Call<'e>,
    /// The procedure for each copy of its table.
    copies: Vec<RenderedProcedure<D::Connection>>,
    /// The statement's values among those of the call.
    positions: Vec<usize>,
    /// The server's statistics before the first statement is explained.
    entries: Vec<StatementEntry>,
    connection: D::Connection,
}

impl<'e, D: Database> Inspection<'e, D> {
    fn new(engine: &'e SqlEngine<D>, call: &'e Call<'e>) -> Result<Self, EngineError> {
        let setup = engine.setup.as_ref();
        let tables = setup.and_then(|setup| {
            let procedure = setup.application.procedure(call.procedure)?;
            Some(setup.copies(procedure.table))
        });
        let on_copy = |table| render((&engine.config, setup), &Call { table, ..*call });
        let copies = (0..tables.unwrap_or_default()).map(on_copy).collect::<Result<_, _>>()?;
        let mut connection = engine.connect_within(WITHIN)?;
        let entries = connection.statement_entries(engine.config.endpoint.is_foreign);
        let mut entries = unless_refused(entries)?.unwrap_or_default();
        entries.extend(engine.ended_entries());
        Ok(Self { engine, call, copies, positions: Vec::new(), entries, connection })
    }

    /// Returns the entries in which the server counts the statement at a position, on any copy.
    fn entries_of(&mut self, position: usize) -> Result<Vec<StatementEntry>, EngineError> {
        let mut found = BTreeSet::new();
        if self.entries.is_empty() {
            return Ok(Vec::new());
        }
        for copy in &self.copies {
            let step = &copy.steps[position];
            let values = |at: usize| Value::of(self.call, step.positions[at]);
            for command in step.commands() {
                let Some((template, protocol)) = copy.commands[*command].unprepared() else {
                    continue;
                };
                let sent = SentStatement { template, protocol, values: &values };
                match self.connection.find_entries(&sent, &self.entries) {
                    // It is in none.
                    Err(Failure::Refused(_) | Failure::Rejected(_) | Failure::Unread(_)) => {}
                    positions => found.extend(positions?),
                }
            }
            if step.chooses_copy() {
                break;
            }
        }
        Ok(found.into_iter().map(|at| self.entries[at].clone()).collect())
    }

    /// Returns the access paths of a statement, if the server explains it, and the plan's text.
    fn plan(
        &mut self,
        template: &Template,
        executes: bool,
    ) -> Result<(Option<String>, String), EngineError> {
        let explain = D::Connection::EXPLAIN;
        let Some(rows) = self.explain(explain.plan, template)? else {
            return Ok((None, String::new()));
        };
        let mut text = text_of(&rows);
        for prefix in explain.executed.iter().filter(|_| executes) {
            if let Some(rows) = self.explain(prefix, template)? {
                text.push_str(&format!("{prefix}\n{}", text_of(&rows)));
                break;
            }
        }
        Ok((Some((explain.paths)(&rows)), text))
    }

    /// Returns the rows of an explanation; `None` when the server refuses it or takes too long.
    fn explain(
        &mut self,
        prefix: &str,
        template: &Template,
    ) -> Result<Option<Vec<Vec<String>>>, EngineError> {
        let values = |at: usize| Value::of(self.call, self.positions[at]);
        let sent = SentStatement { template, protocol: Protocol::Text, values: &values };
        match sent.explain(&mut self.connection, prefix) {
            Ok(rows) => Ok(Some(rows)),
            // The next statements would wait, too.
            Err(Failure::Refused(response)) if response.is_lock_wait() => Err(response.classify()),
            Err(Failure::Refused(_) | Failure::Rejected(_) | Failure::Unread(_)) => Ok(None),
            Err(Failure::Lost(_) | Failure::Unreachable(_)) => {
                let lost = self.connection.number();
                self.connection = self.engine.connect_within(WITHIN)?;
                lost.map_or(Ok(()), |number| self.connection.end(number))?;
                Ok(None)
            }
        }
    }
}

fn text_of(rows: &[Vec<String>]) -> String {
    rows.iter().map(|row| row.join("\t") + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_statements_that_read_without_locks_are_executed() {
        assert!(is_read(" SELECT c FROM t WHERE id = ?"));
        for sql in ["SELECT c FROM t FOR UPDATE", "UPDATE t SET c = 1", "INSERT INTO t SELECT 1"] {
            assert!(!is_read(sql), "{sql}");
        }
    }
}
