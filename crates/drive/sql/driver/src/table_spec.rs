//! Names and statements of the tables and routines that a run creates.

use engine::{ApplicationSetup, OpenSpec};
use model::sql::{Part, Statement};

use crate::connection::Connection;
use crate::object::{Creation, Object, ObjectKind};

/// The table of key-value operations.
const KEY_VALUE: &str = "assay_kv";
/// A table to create.
pub(crate) struct TableSpec {
    pub(crate) name: String,
    /// Its name in the application; `None` for the table of keys and values.
    pub(crate) of: Option<String>,
    pub(crate) create: Vec<String>,
    /// The sequence of its ids, where its statements name it.
    pub(crate) sequence: Option<String>,
}

/// Returns the routines that the statements of the application create.
pub(crate) fn routines<C: Connection>(spec: &OpenSpec, tables: &[TableSpec]) -> Vec<Object> {
    let Some(setup) = &spec.application else { return Vec::new() };
    let mut texts: Vec<_> = tables.iter().flat_map(|table| table.create.iter().cloned()).collect();
    for procedure in &setup.application.procedures {
        for statement in procedure.statements.by(C::SQL.dialect) {
            let copies = 0..setup.copies(procedure.table);
            texts.extend(copies.map(|at| query_text(setup, statement, procedure.table, at)));
        }
    }
    let mut routines = Vec::new();
    for creation in texts.iter().filter_map(|sql| Creation::parse(sql, C::SQL.dialect)) {
        if creation.object.kind != ObjectKind::Table && !routines.contains(&creation.object) {
            routines.push(creation.object);
        }
    }
    routines
}

/// Returns the tables of `spec`: those of its application, or the one of keys and values.
pub(crate) fn specs<C: Connection>(spec: &OpenSpec, session: &C::Session) -> Vec<TableSpec> {
    let Some(setup) = &spec.application else {
        let create = C::create_key_value(session);
        return vec![TableSpec { name: KEY_VALUE.to_owned(), of: None, create, sequence: None }];
    };
    let tables = (0u16..).zip(&setup.application.tables);
    let all = tables.flat_map(|(position, table)| {
        (0..setup.copies(position)).map(|number| {
            let name = name(&table.name, number);
            let statements = table.create.by(C::SQL.dialect).iter();
            let named = |other| reached(setup, other, number);
            let create: Vec<_> =
                statements.map(|statement| sql_text(statement, &name, named)).collect();
            let sequence = table.id.as_ref().map(|id| format!("{name}_{id}_seq"));
            let sequence = sequence.filter(|it| create.iter().any(|sql| sql.contains(it)));
            TableSpec { name, of: Some(table.name.clone()), create, sequence }
        })
    });
    all.collect()
}

/// Returns the name of copy `number`, from 0, of a table.
pub(crate) fn name(base: &str, number: u32) -> String {
    format!("{base}{}", u64::from(number) + 1)
}

/// Returns the name of the table at `position`, as a call on copy `number` reaches it.
pub(crate) fn reached(setup: &ApplicationSetup, position: u16, number: u32) -> String {
    let table = setup.application.tables.get(usize::from(position));
    name(table.map_or("", |table| &table.name), setup.reached(position, number))
}

fn sql_text(statement: &Statement, table: &str, other: impl Fn(u16) -> String) -> String {
    let pieces = statement.parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Table => table.to_owned(),
        Part::OtherTable(position) => other(*position),
        Part::Argument(_) | Part::RowArgument(_) | Part::Rows(_) => String::new(),
    });
    pieces.collect()
}

/// Returns the text of a query on copy `number` of its table.
pub(crate) fn query_text(
    setup: &ApplicationSetup,
    query: &Statement,
    table: u16,
    number: u32,
) -> String {
    let named = |other| reached(setup, other, number);
    sql_text(query, &named(table), named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_name_is_substituted_in_statements() {
        let text = |text: &str| Part::Text(text.to_owned());
        let parts = vec![text("CREATE TABLE "), Part::Table, text(" (a INT)")];
        assert_eq!(
            sql_text(
                &Statement { parts, ..Statement::default() },
                &name("pi", 0),
                |_| String::new()
            ),
            "CREATE TABLE pi1 (a INT)"
        );
    }
}
