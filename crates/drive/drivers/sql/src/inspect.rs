//! Plans and totals of a procedure's statements, as the server reports them.

use std::time::Duration;

use engine::EngineError;
use model::sql::Protocol;
use model::{Call, OpKind, StatementState, StatementTotals};

use crate::command::Command;
use crate::connection::{Connection, Reply};
use crate::database::{Database, SqlEngine};
use crate::digest::digest;
use crate::failure::Failure;
use crate::procedure::render;
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
    let connection = engine.connect()?;
    let mut inspection = Inspection::<D> { engine, call, positions: Vec::new(), connection };
    inspection.connection.limit_time(WITHIN)?;
    let totals = match D::statement_totals(engine, &mut inspection.connection) {
        // Not collected, or a login without rights.
        Err(Failure::Refused(_)) => Vec::new(),
        totals => totals?,
    };
    let mut states = Vec::new();
    let mut known = vec![false; rendered.commands.len()];
    for (number, step) in (1..).zip(&rendered.steps) {
        // The same statement on other values has the same plan.
        if step.is_rollback || std::mem::replace(&mut known[step.command], true) {
            continue;
        }
        let command = &rendered.commands[step.command];
        let (Command::Text(template) | Command::Unprepared(template)) = command else { continue };
        inspection.positions.clone_from(&step.positions);
        let (sql, _) = template.with_placeholders(false, |_| "?".to_owned());
        let (plan, text) = inspection.plan(template, executes && is_read(&sql))?;
        let own = digest(&sql);
        let same = totals.iter().filter(|(text, _)| digest(text) == own).map(|(_, totals)| *totals);
        let totals = same.reduce(StatementTotals::plus);
        states.push(StatementState { number, plan, text, totals });
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
    /// The statement's values among those of the call.
    positions: Vec<usize>,
    connection: D::Connection,
}

impl<D: Database> Inspection<'_, D> {
    /// Returns the access paths of a statement, if the server explains it, and the plan's text.
    fn plan(
        &mut self,
        template: &Template,
        executes: bool,
    ) -> Result<(Option<String>, String), EngineError> {
        let explain = D::EXPLAIN;
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
        let value = |at: usize| Value::of(self.call, self.positions[at]);
        match explain(&mut self.connection, &template.after(prefix), value) {
            Ok(rows) => Ok(Some(rows)),
            Err(Failure::Refused(_) | Failure::Rejected(_) | Failure::Unread(_)) => Ok(None),
            Err(Failure::Lost(_)) => {
                let lost = self.connection.number();
                self.connection = self.engine.connect()?;
                lost.map_or(Ok(()), |number| self.connection.end(number))?;
                self.connection.limit_time(WITHIN)?;
                Ok(None)
            }
        }
    }
}

fn explain<'v, C: Connection>(
    connection: &mut C,
    template: &Template,
    value: impl Fn(usize) -> Value<'v> + Copy,
) -> Reply<Vec<Vec<String>>, C> {
    let mut rows = Vec::new();
    let text =
        |text: Option<&[u8]>| text.map(String::from_utf8_lossy).unwrap_or_default().into_owned();
    let mut command = Command::new(template.clone(), Protocol::Text);
    command.run(connection, value, |_, row| rows.push(C::texts(row).map(text).collect()))?;
    Ok(rows)
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
