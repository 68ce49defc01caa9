//! Connections: opened, given their pragmas, and asked what they made of them.

use std::path::Path;

use engine::EngineError;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::config::{Config, TABLE, Table, canonical};
use crate::error::{failed, refused};

/// Opens a connection to the file at `path`, creating it when absent, with every pragma in force.
///
/// # Errors
/// When SQLite keeps another value than the one asked for.
pub(crate) fn open(path: &Path, config: &Config) -> Result<Connection, EngineError> {
    // No mutex: a connection never leaves its session, or is behind a lock of ours.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    for (name, value) in config.pragmas.iter() {
        run(&connection, &format!("PRAGMA {name} = {value}")).map_err(failed)?;
        let kept = pragma(&connection, name)?.unwrap_or_default();
        if kept != canonical(name, value) {
            let reason = format!("asked for `{value}`, SQLite kept `{kept}`");
            return Err(refused(name, reason));
        }
    }
    Ok(connection)
}

/// Creates the table unless it is there, and returns the form it has.
pub(crate) fn ensure_table(
    connection: &Connection,
    asked: Option<Table>,
) -> Result<Table, EngineError> {
    let found: Option<String> = connection
        .query_row("SELECT sql FROM sqlite_schema WHERE name = 'kv'", [], |row| row.get(0))
        .optional()
        .map_err(failed)?;
    let Some(statement) = found else {
        let table = asked.unwrap_or(Table::WithoutRowid);
        run(connection, table.statement()).map_err(failed)?;
        return Ok(table);
    };
    let is_this = |table: &Table| table.statement() == statement;
    let table = [Table::WithoutRowid, Table::Rowid].into_iter().find(is_this).ok_or_else(|| {
        EngineError::Fatal(format!("sqlite: the table `kv` is not ours: {statement}"))
    })?;
    match asked {
        Some(asked) if asked != table => {
            Err(refused(TABLE, format!("the data was created as {}", table.name())))
        }
        _ => Ok(table),
    }
}

/// Returns a pragma's value as SQLite tells it; `None` when it does not.
pub(crate) fn pragma(connection: &Connection, name: &str) -> Result<Option<String>, EngineError> {
    let text = |row: &rusqlite::Row<'_>| match row.get_ref(0)? {
        ValueRef::Integer(number) => Ok(number.to_string()),
        ValueRef::Text(text) => Ok(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => Ok(String::new()),
    };
    connection.query_row(&format!("PRAGMA {name}"), [], text).optional().map_err(failed)
}

/// Runs one statement to its end, whether it returns rows or not.
pub(crate) fn run(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(statement)?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Returns the height of the table's B-tree, root included; `None` when it cannot be seen now.
///
/// `dbstat` walks depth first from the root, so the pages before the first leaf are the way down.
pub(crate) fn tree_height(connection: &Connection) -> Option<u32> {
    const DEEPEST: u32 = 32;
    let mut pages =
        connection.prepare_cached("SELECT pagetype FROM dbstat WHERE name = 'kv'").ok()?;
    let mut rows = pages.query([]).ok()?;
    for height in 1..=DEEPEST {
        if rows.next().ok()??.get_ref(0).ok()?.as_str().ok()? == "leaf" {
            return Some(height);
        }
    }
    None
}
