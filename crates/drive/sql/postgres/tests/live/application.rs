//! Test applications parsed from text.

use std::sync::Arc;

use engine::ApplicationSetup;
use model::sql::{Copies, Draw, Part, PerDialect, Procedure, Statement, Table};
use model::{Application, OpKind};

/// Parses a statement: `{table}` is the table, `{0}` an argument, `{rows:...:}` the rows, in which
/// `{r0}` is a value of the row.
fn statement(text: &str) -> Statement {
    Statement { parts: parts(text), ..Statement::default() }
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((text, after)) = rest.split_once('{') {
        parts.push(Part::Text(text.to_owned()));
        let end = if after.starts_with("rows:") { ":}" } else { "}" };
        let (name, after) = after.split_once(end).expect("braces are closed");
        parts.push(match name {
            "table" => Part::Table,
            _ => match (name.strip_prefix("rows:"), name.strip_prefix('r')) {
                (Some(row), _) => Part::Rows(self::parts(row)),
                (None, Some(number)) => Part::RowArgument(number.parse().expect("a number")),
                (None, None) => Part::Argument(name.parse().expect("a number")),
            },
        });
        rest = after;
    }
    parts.push(Part::Text(rest.to_owned()));
    parts
}

/// Returns a procedure that draws `arguments` values once and `row` values for each of `rows`.
pub(crate) fn procedure(
    kind: OpKind,
    statements: &[&str],
    (arguments, row, rows): (usize, usize, u32),
) -> Procedure {
    let postgres = statements.iter().map(|text| statement(text)).collect();
    Procedure {
        is_transaction: kind == OpKind::Transaction,
        statements: PerDialect { postgres, mysql: Vec::new() },
        arguments: vec![Draw::Number; arguments],
        row: vec![Draw::Number; row],
        rows,
        ..Procedure::new(statements.join("; "), kind)
    }
}

/// Returns an application of one table for each of two clients, created by that statement.
pub(crate) fn application(create: &str, procedures: Vec<Procedure>) -> ApplicationSetup {
    let create = PerDialect { postgres: vec![statement(create)], mysql: Vec::new() };
    let table = Table {
        name: "item".to_owned(),
        copies: Copies::PerClient,
        create,
        id: Some("id".to_owned()),
    };
    let application = Application {
        about: "a test".to_owned(),
        row_bytes: 100,
        tables: vec![table],
        procedures,
        ..Application::new("small")
    };
    ApplicationSetup { application: Arc::new(application), clients: 2 }
}
