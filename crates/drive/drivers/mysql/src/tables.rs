//! The tables of a run: made, found again, or found to be somebody else's.
//!
//! A marker table names those that are ours and the run that made them. The run keeps the same
//! word in its data directory: what carries another is left of an earlier run, and dropped.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use engine::{ApplicationSetup, EngineError, OpenSpec};
use model::Endpoint;
use model::sql::{Dialect, Part, Statement};

use crate::wire::{Connection, Failure};

/// Table of keys and values.
pub(crate) const KEY_VALUE: &str = "assay_kv";
/// Table that names our tables.
const MARKER: &str = "assay_tables";
/// File in the data directory that holds the run's word.
const WORD_FILE: &str = "assay-tables";
/// Longest key: the longest prefix that every version of every engine can index.
///
/// Source: MySQL 5.6's reference manual, "Limits on InnoDB Tables": 767 bytes.
pub(crate) const KEY_BYTES_MAX: usize = 767;
/// Longest value: with its quotes and digits it fits a statement of 64 MiB, and a tenth of the
/// redo logs that our servers have by default, which MySQL 5.6 asks for.
pub(crate) const VALUE_BYTES_MAX: usize = 16 << 20;
/// Bytes of a word.
const WORD_BYTES: usize = 16;

/// Where the tables lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Innodb,
    Myrocks,
    Other,
}

/// Returns where a table lies.
pub(crate) fn store(connection: &mut Connection, table: &str) -> Result<Store, Failure> {
    let told = connection.rows(&format!("SHOW TABLE STATUS LIKE '{table}'"))?;
    let engine = told.first().and_then(|row| row.get(1)).map(|name| name.to_ascii_lowercase());
    Ok(match engine.as_deref() {
        Some("innodb") => Store::Innodb,
        Some("rocksdb") => Store::Myrocks,
        _ => Store::Other,
    })
}

/// Makes the tables that `spec` asks for, or finds those of this run again.
///
/// # Errors
/// When a table is there that is not ours, or the user may not do what is needed.
pub(crate) fn ensure(connection: &mut Connection, spec: &OpenSpec) -> Result<(), EngineError> {
    let place = Place { endpoint: spec.endpoint.as_ref(), dir: &spec.dir };
    let wanted = names(spec.application.as_ref());
    let there: BTreeSet<String> = column(connection, "SHOW TABLES")?;
    let mut ours = BTreeSet::new();
    if there.contains(MARKER) {
        let words: BTreeSet<_> = column(connection, "SELECT word FROM assay_tables")
            .map_err(|error| place.marker(&error))?;
        ours = column(connection, "SELECT name FROM assay_tables")?;
        let is_same = place.word()?.is_some_and(|word| words == BTreeSet::from([word]));
        if is_same && wanted.is_subset(&ours) && wanted.is_subset(&there) {
            return Ok(());
        }
    }
    if let Some(name) = wanted.iter().find(|name| there.contains(*name) && !ours.contains(*name)) {
        return Err(place.taken(name));
    }
    for name in ours.intersection(&there) {
        connection.run(&format!("DROP TABLE IF EXISTS `{name}`"))?;
    }
    let word = place.new_word()?;
    make(connection, spec, &wanted, &word).map_err(|failure| place.not_made(failure))
}

/// Makes the tables; those that are ours are named before they are made.
fn make(
    connection: &mut Connection,
    spec: &OpenSpec,
    wanted: &BTreeSet<String>,
    word: &str,
) -> Result<(), Failure> {
    connection.run(&format!("DROP TABLE IF EXISTS {MARKER}"))?;
    connection.run(&format!(
        "CREATE TABLE {MARKER} (name VARBINARY(250) NOT NULL PRIMARY KEY, word VARBINARY(64) NOT \
         NULL)"
    ))?;
    for name in wanted {
        connection.run(&format!("INSERT INTO {MARKER} VALUES ('{name}', '{word}')"))?;
    }
    let Some(asked) = &spec.application else {
        connection.run(&format!(
            "CREATE TABLE {KEY_VALUE} (k VARBINARY({KEY_BYTES_MAX}) NOT NULL PRIMARY KEY, v \
             LONGBLOB NOT NULL)"
        ))?;
        return Ok(());
    };
    for (position, table) in (0u16..).zip(&asked.application.tables) {
        for number in 0..asked.copies(position) {
            for statement in table.create.by(Dialect::Mysql) {
                connection.run(&said(statement, &name(&table.name, number)))?;
            }
        }
    }
    Ok(())
}

/// Returns the name of copy `number`, from 0, of a table.
pub(crate) fn name(base: &str, number: u32) -> String {
    format!("{base}{}", number + 1)
}

/// Returns the names of all tables that are wanted.
pub(crate) fn names(asked: Option<&ApplicationSetup>) -> BTreeSet<String> {
    let Some(asked) = asked else { return BTreeSet::from([KEY_VALUE.to_owned()]) };
    let tables = (0u16..).zip(&asked.application.tables);
    let all = tables.flat_map(|(position, table)| {
        (0..asked.copies(position)).map(|number| name(&table.name, number))
    });
    all.collect()
}

/// Returns a statement about one table in words.
fn said(statement: &Statement, table: &str) -> String {
    let words = statement.parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Table => table,
        Part::Argument(_) | Part::RowArgument(_) | Part::Rows(_) => "",
    });
    words.collect()
}

/// Returns the first column of a statement's rows.
fn column(connection: &mut Connection, sql: &str) -> Result<BTreeSet<String>, Failure> {
    let rows = connection.rows(sql)?;
    Ok(rows.into_iter().filter_map(|row| row.into_iter().next()).collect())
}

/// Where tables are made: server and data directory.
struct Place<'a> {
    endpoint: Option<&'a Endpoint>,
    dir: &'a Path,
}

impl Place<'_> {
    fn told(&self) -> String {
        self.endpoint.map_or(String::new(), |endpoint| {
            format!("database `{}` at {}", endpoint.database, endpoint.address)
        })
    }

    /// Returns the word that this data directory's run left; `None` when it is fresh.
    fn word(&self) -> Result<Option<String>, EngineError> {
        match fs::read_to_string(self.dir.join(WORD_FILE)) {
            Ok(word) => Ok(Some(word)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unusable(&error)),
        }
    }

    /// Leaves a new word in the data directory and returns it.
    fn new_word(&self) -> Result<String, EngineError> {
        let mut bytes = [0; WORD_BYTES];
        let read = fs::File::open("/dev/urandom")
            .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes));
        read.map_err(|error| self.unusable(&error))?;
        let word: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        fs::write(self.dir.join(WORD_FILE), &word).map_err(|error| self.unusable(&error))?;
        Ok(word)
    }

    fn unusable(&self, error: &std::io::Error) -> EngineError {
        let path = self.dir.join(WORD_FILE);
        EngineError::Fatal(format!("{}: {error}", path.display()))
    }

    fn taken(&self, name: &str) -> EngineError {
        EngineError::Fatal(format!(
            "table `{name}` of {} is not of Assay's making: drop it, or name another database in \
             the dsn",
            self.told()
        ))
    }

    fn marker(&self, failure: &Failure) -> EngineError {
        EngineError::Fatal(format!(
            "table `{MARKER}` of {} is not as Assay makes it ({failure}): drop it, or name another \
             database in the dsn",
            self.told()
        ))
    }

    fn not_made(&self, failure: Failure) -> EngineError {
        match failure.number() {
            // No right to the command, the database or the table.
            Some(1044 | 1142 | 1227) => EngineError::Fatal(format!(
                "the user may not make tables in {}: {failure}: GRANT ALL ON the database to it, \
                 or name another user in the dsn",
                self.told()
            )),
            _ => failure.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_said_of_each_table() {
        let text = |text: &str| Part::Text(text.to_owned());
        let parts = vec![text("CREATE TABLE "), Part::Table, text(" (a INT)")];
        assert_eq!(said(&Statement { parts }, &name("pi", 0)), "CREATE TABLE pi1 (a INT)");
        assert_eq!(names(None), BTreeSet::from([KEY_VALUE.to_owned()]));
    }
}
