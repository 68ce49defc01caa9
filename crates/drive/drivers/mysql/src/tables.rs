//! The tables of a run: creation, reuse, protection of foreign tables.
//!
//! A marker table names the tables Assay created and the token of their run, which is also stored
//! in the run's data directory: tables of another token are left from an earlier run, and dropped.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use engine::{ApplicationSetup, EngineError, OpenSpec};
use model::Endpoint;
use model::sql::{Dialect, Part, Statement};

use crate::wire::{Connection, Failure};

/// The table of key-value operations.
pub(crate) const KEY_VALUE: &str = "assay_kv";
/// The marker table.
const MARKER: &str = "assay_tables";
/// File in the data directory that holds the run's token.
const TOKEN_FILE: &str = "assay-tables";
/// Longest key, bytes: the longest prefix that every supported version can index.
///
/// Source: MySQL 5.6's reference manual, "Limits on InnoDB Tables": 767 bytes.
pub(crate) const KEY_BYTES_MAX: usize = 767;
/// Longest value, bytes: hex-encoded it fits a statement of 64 MiB, and a tenth of the default
/// redo log of own servers, which MySQL 5.6 requires.
pub(crate) const VALUE_BYTES_MAX: usize = 16 << 20;
/// Bytes of a token.
const TOKEN_BYTES: usize = 16;

/// Storage engine of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StorageEngine {
    Innodb,
    Myrocks,
    Other,
}

/// Returns the storage engine of a table.
pub(crate) fn storage_engine(
    connection: &mut Connection,
    table: &str,
) -> Result<StorageEngine, Failure> {
    let status = connection.rows(&format!("SHOW TABLE STATUS LIKE '{table}'"))?;
    let engine = status.first().and_then(|row| row.get(1)).map(|name| name.to_ascii_lowercase());
    Ok(match engine.as_deref() {
        Some("innodb") => StorageEngine::Innodb,
        Some("rocksdb") => StorageEngine::Myrocks,
        _ => StorageEngine::Other,
    })
}

/// Creates the tables of `spec`, or finds those of this run again.
///
/// # Errors
/// When a foreign table has the name, or the user lacks rights.
pub(crate) fn ensure(connection: &mut Connection, spec: &OpenSpec) -> Result<(), EngineError> {
    let target = Target { endpoint: spec.endpoint.as_ref(), dir: &spec.dir };
    let wanted = names(spec.application.as_ref());
    let there: BTreeSet<String> = column(connection, "SHOW TABLES")?;
    let mut ours = BTreeSet::new();
    if there.contains(MARKER) {
        let tokens: BTreeSet<_> = column(connection, "SELECT word FROM assay_tables")
            .map_err(|error| target.marker_error(&error))?;
        ours = column(connection, "SELECT name FROM assay_tables")?;
        let is_same = target.token()?.is_some_and(|token| tokens == BTreeSet::from([token]));
        if is_same && wanted.is_subset(&ours) && wanted.is_subset(&there) {
            return Ok(());
        }
    }
    if let Some(name) = wanted.iter().find(|name| there.contains(*name) && !ours.contains(*name)) {
        return Err(target.foreign_table(name));
    }
    for name in ours.intersection(&there) {
        connection.run(&format!("DROP TABLE IF EXISTS `{name}`"))?;
    }
    let token = target.new_token()?;
    make(connection, spec, &wanted, &token).map_err(|failure| target.creation_error(failure))
}

/// Creates the tables; the marker table names them first.
fn make(
    connection: &mut Connection,
    spec: &OpenSpec,
    wanted: &BTreeSet<String>,
    token: &str,
) -> Result<(), Failure> {
    connection.run(&format!("DROP TABLE IF EXISTS {MARKER}"))?;
    connection.run(&format!(
        "CREATE TABLE {MARKER} (name VARBINARY(250) NOT NULL PRIMARY KEY, word VARBINARY(64) NOT \
         NULL)"
    ))?;
    for name in wanted {
        connection.run(&format!("INSERT INTO {MARKER} VALUES ('{name}', '{token}')"))?;
    }
    let Some(setup) = &spec.application else {
        connection.run(&format!(
            "CREATE TABLE {KEY_VALUE} (k VARBINARY({KEY_BYTES_MAX}) NOT NULL PRIMARY KEY, v \
             LONGBLOB NOT NULL)"
        ))?;
        return Ok(());
    };
    for (position, table) in (0u16..).zip(&setup.application.tables) {
        for number in 0..setup.copies(position) {
            for statement in table.create.by(Dialect::Mysql) {
                connection.run(&sql_text(statement, &name(&table.name, number)))?;
            }
        }
    }
    Ok(())
}

/// Returns the name of copy `number`, from 0, of a table.
pub(crate) fn name(base: &str, number: u32) -> String {
    format!("{base}{}", number + 1)
}

/// Returns the names of all tables of an application.
pub(crate) fn names(setup: Option<&ApplicationSetup>) -> BTreeSet<String> {
    let Some(setup) = setup else { return BTreeSet::from([KEY_VALUE.to_owned()]) };
    let tables = (0u16..).zip(&setup.application.tables);
    let all = tables.flat_map(|(position, table)| {
        (0..setup.copies(position)).map(|number| name(&table.name, number))
    });
    all.collect()
}

/// Returns the SQL text of a statement on one table.
fn sql_text(statement: &Statement, table: &str) -> String {
    let pieces = statement.parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Table => table,
        Part::Argument(_) | Part::RowArgument(_) | Part::Rows(_) => "",
    });
    pieces.collect()
}

/// Returns the first column of a statement's rows.
fn column(connection: &mut Connection, sql: &str) -> Result<BTreeSet<String>, Failure> {
    let rows = connection.rows(sql)?;
    Ok(rows.into_iter().filter_map(|row| row.into_iter().next()).collect())
}

/// Where tables are created: server and data directory.
struct Target<'a> {
    endpoint: Option<&'a Endpoint>,
    dir: &'a Path,
}

impl Target<'_> {
    fn describe(&self) -> String {
        self.endpoint.map_or(String::new(), |endpoint| {
            format!("database `{}` at {}", endpoint.database, endpoint.address)
        })
    }

    /// Reads the token in the data directory; `None` when it is fresh.
    fn token(&self) -> Result<Option<String>, EngineError> {
        match fs::read_to_string(self.dir.join(TOKEN_FILE)) {
            Ok(token) => Ok(Some(token)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.file_error(&error)),
        }
    }

    /// Writes a new token to the data directory and returns it.
    fn new_token(&self) -> Result<String, EngineError> {
        let mut bytes = [0; TOKEN_BYTES];
        let read = fs::File::open("/dev/urandom")
            .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes));
        read.map_err(|error| self.file_error(&error))?;
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        fs::write(self.dir.join(TOKEN_FILE), &token).map_err(|error| self.file_error(&error))?;
        Ok(token)
    }

    fn file_error(&self, error: &std::io::Error) -> EngineError {
        let path = self.dir.join(TOKEN_FILE);
        EngineError::Fatal(format!("{}: {error}", path.display()))
    }

    fn foreign_table(&self, name: &str) -> EngineError {
        EngineError::Fatal(format!(
            "table `{name}` of {} was not created by Assay: drop it, or name another database in \
             the dsn",
            self.describe()
        ))
    }

    fn marker_error(&self, failure: &Failure) -> EngineError {
        EngineError::Fatal(format!(
            "table `{MARKER}` of {} is not the one Assay creates ({failure}): drop it, or name \
             another database in the dsn",
            self.describe()
        ))
    }

    fn creation_error(&self, failure: Failure) -> EngineError {
        match failure.number() {
            // No right to the command, the database or the table.
            Some(1044 | 1142 | 1227) => EngineError::Fatal(format!(
                "the user may not create tables in {}: {failure}: GRANT ALL ON the database to it, \
                 or name another user in the dsn",
                self.describe()
            )),
            _ => failure.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_name_is_substituted_in_statements() {
        let text = |text: &str| Part::Text(text.to_owned());
        let parts = vec![text("CREATE TABLE "), Part::Table, text(" (a INT)")];
        assert_eq!(sql_text(&Statement { parts }, &name("pi", 0)), "CREATE TABLE pi1 (a INT)");
        assert_eq!(names(None), BTreeSet::from([KEY_VALUE.to_owned()]));
    }
}
