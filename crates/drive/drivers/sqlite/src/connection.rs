//! Opens connections, applies pragmas and reads them back.

use std::ops::ControlFlow;
use std::path::Path;

use engine::settings_check::refused;
use engine::{EngineError, Result};

use crate::config::{Config, TABLE, TABLES, canonical};
use crate::ffi::Api;
use crate::ffi_connection::{Connection, Row};

/// Opens the file at `path`, creating it when absent, with every pragma in force.
pub(crate) fn open(api: Api, path: &Path, config: &Config) -> Result<Connection> {
    let connection = Connection::open(api, path)?;
    for (name, value) in config.pragmas.iter() {
        run(&connection, &format!("PRAGMA {name} = {value}"))?;
        let effective = pragma(&connection, name)?.unwrap_or_default();
        if effective != canonical(name, value) {
            let reason = format!("requested `{value}`, SQLite has `{effective}`");
            return Err(refused(name, reason));
        }
    }
    Ok(connection)
}

/// Creates the table when absent, and returns its form.
pub(crate) fn ensure_table(
    connection: &Connection,
    requested: Option<&str>,
) -> Result<&'static str> {
    let found = first(connection, "SELECT sql FROM sqlite_master WHERE name = 'kv'")?;
    let Some(statement) = found else {
        let [usual, other] = TABLES;
        let (form, statement) = if requested == Some(other.0) { other } else { usual };
        run(connection, statement)?;
        return Ok(form);
    };
    let Some((form, _)) = TABLES.into_iter().find(|(_, create)| *create == statement) else {
        let text = format!("sqlite: the table `kv` belongs to another program: {statement}");
        return Err(EngineError::Fatal(text));
    };
    match requested {
        Some(requested) if requested != form => {
            Err(refused(TABLE, format!("the data was created as {form}")))
        }
        _ => Ok(form),
    }
}

/// Returns a pragma's value; `None` when SQLite returns none.
pub(crate) fn pragma(connection: &Connection, name: &str) -> Result<Option<String>> {
    first(connection, &format!("PRAGMA {name}"))
}

/// Runs one statement to its end and ignores its rows.
pub(crate) fn run(connection: &Connection, statement: &str) -> Result<()> {
    connection.rows(statement, |_| ControlFlow::Continue(()))
}

/// Returns the first column of a statement's first row; `None` when it has no row.
pub(crate) fn first(connection: &Connection, statement: &str) -> Result<Option<String>> {
    let mut found = None;
    connection.rows(statement, |row| {
        found = Some(row.text(0));
        ControlFlow::Break(())
    })?;
    Ok(found)
}

/// Returns the height of the table's B-tree, root included.
///
/// `None` when the table is locked, or this SQLite was built without `dbstat`. `dbstat` walks depth
/// first from the root, so the pages up to the first leaf are one path down.
pub(crate) fn tree_height(connection: &Connection) -> Option<u32> {
    const DEEPEST: u32 = 32;
    let (mut height, mut is_leaf) = (0, false);
    let walk = |row: &Row<'_>| {
        height += 1;
        is_leaf = row.column(0) == b"leaf";
        if is_leaf || height == DEEPEST {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    connection.rows("SELECT pagetype FROM dbstat WHERE name = 'kv'", walk).ok()?;
    Some(height).filter(|_| is_leaf)
}
