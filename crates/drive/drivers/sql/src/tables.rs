//! The tables of a run: creation, reuse, protection of foreign tables.
//!
//! The marker table names the tables Assay created and the token of their data set, which is also
//! stored in the data directory: a directory opened again finds its rows, while tables of another
//! token are left from an earlier run, and dropped.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;

use engine::{ApplicationSetup, EngineError, OpenSpec, Refusal};
use model::sql::{Part, Statement, StatementOwner};

use crate::config::Config;
use crate::connection::Connection;
use crate::failure::{ErrorResponse, Failure};

/// The table of key-value operations.
const KEY_VALUE: &str = "assay_kv";
/// The marker table, which is none of a run's own.
pub const MARKER: &str = "assay_tables";
/// File in the data directory that holds the data set's token.
const TOKEN_FILE: &str = "assay-tables";
/// Bytes of a token.
const TOKEN_BYTES: usize = 16;

/// A table to create.
struct TableSpec {
    name: String,
    /// Its name in the application; `None` for the table of keys and values.
    of: Option<String>,
    create: Vec<String>,
}

/// Creates the tables of `spec`, or finds those of this data set again; returns their names.
/// Fails when a foreign table has the name, or the user lacks rights.
pub(crate) fn ensure<C: Connection>(
    connection: &mut C,
    spec: &OpenSpec,
    config: &Config<C::Session>,
) -> Result<Vec<String>, EngineError> {
    let target = Target { config, token_file: spec.dir.join(TOKEN_FILE) };
    let wanted = specs::<C>(spec, &config.session);
    let marked = target.marked(connection)?;
    let token = target.token()?;
    let is_present = |(_, of): &(String, String)| token.as_ref() == Some(of);
    let mut is_complete = true;
    for table in &wanted {
        let is_marked = |(name, _): &&(String, String)| *name == table.name;
        let known = marked.iter().find(is_marked);
        match (known, connection.has_table(&table.name)?) {
            (None, true) => return Err(target.foreign_table(&table.name)),
            (Some(known), true) if is_present(known) => {}
            _ => is_complete = false,
        }
    }
    let is_dropped = |table: &(String, String)| !is_complete || !is_present(table);
    let mut dropped: Vec<_> = marked.iter().filter(|table| is_dropped(table)).collect();
    // Last created first: a table may refer to those before it.
    dropped.sort_by_key(|(name, _)| Reverse(wanted.iter().position(|table| table.name == *name)));
    // Every user with rights to the database can have written it.
    if let Some((name, _)) = dropped.iter().find(|(name, _)| !is_name(name)) {
        let reason = format!("{MARKER} names `{name}`, no table of ours: remove that row");
        return Err(EngineError::Fatal(reason));
    }
    for (name, _) in dropped {
        drop_table(connection, name).map_err(|(_, failure)| target.creation_error(failure))?;
    }
    let token = match token {
        Some(token) => token,
        None => target.new_token()?,
    };
    for table in wanted.iter().filter(|_| !is_complete) {
        create(connection, table, &token)
            .map_err(|(index, failure)| target.statement_error(table, index, failure))?;
    }
    Ok(wanted.into_iter().map(|table| table.name).collect())
}

/// Returns whether a name can be that of a table of Assay, which needs no quotes.
fn is_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn specs<C: Connection>(spec: &OpenSpec, session: &C::Session) -> Vec<TableSpec> {
    let Some(setup) = &spec.application else {
        let create = C::create_key_value(session);
        return vec![TableSpec { name: KEY_VALUE.to_owned(), of: None, create }];
    };
    let tables = (0u16..).zip(&setup.application.tables);
    let all = tables.flat_map(|(position, table)| {
        (0..setup.copies(position)).map(|number| {
            let name = name(&table.name, number);
            let statements = table.create.by(C::SQL.dialect).iter();
            let named = |other| reached(setup, other, number);
            let create = statements.map(|statement| sql_text(statement, &name, named)).collect();
            TableSpec { name, of: Some(table.name.clone()), create }
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
    (query, table): (&Statement, u16),
    number: u32,
) -> String {
    let named = |other| reached(setup, other, number);
    sql_text(query, &named(table), named)
}

/// Creates a table; the marker table names it first.
fn create<C: Connection>(connection: &mut C, table: &TableSpec, token: &str) -> Executed<C> {
    let note = format!("INSERT INTO {MARKER} VALUES ('{}', '{token}')", table.name);
    run_all(connection, [&note].into_iter().chain(&table.create))
}

fn drop_table<C: Connection>(connection: &mut C, name: &str) -> Executed<C> {
    let quote = C::SQL.quote;
    let statements = [
        format!("DROP TABLE IF EXISTS {quote}{name}{quote}"),
        format!("DELETE FROM {MARKER} WHERE name = '{}'", name.replace('\'', "''")),
    ];
    run_all(connection, statements.iter())
}

/// The result of several statements: the position of the one that failed.
type Executed<C> = Result<(), (usize, Failure<<C as Connection>::Error>)>;

fn run_all<'a, C: Connection>(
    connection: &mut C,
    statements: impl Iterator<Item = &'a String>,
) -> Executed<C> {
    let run = |(index, sql): (_, &String)| connection.run(sql).map_err(|error| (index, error));
    statements.enumerate().try_for_each(run)
}

/// Where tables are created: server and token file.
struct Target<'a, S> {
    config: &'a Config<S>,
    token_file: PathBuf,
}

impl<S> Target<'_, S> {
    fn describe(&self) -> String {
        format!("database `{}` at {}", self.config.endpoint.database, self.config.endpoint.address)
    }

    /// Returns the tables in the marker table, each with its token; creates the marker table.
    fn marked<C: Connection>(
        &self,
        connection: &mut C,
    ) -> Result<Vec<(String, String)>, EngineError> {
        if !connection.has_table(MARKER)? {
            let kind = C::SQL.name_type;
            let columns = format!("name {kind} NOT NULL PRIMARY KEY, token {kind} NOT NULL");
            let create = format!("CREATE TABLE {MARKER} ({columns})");
            connection.run(&create).map_err(|failure| self.creation_error(failure))?;
            return Ok(Vec::new());
        }
        // Earlier versions named the second column otherwise.
        let sql = format!("SELECT * FROM {MARKER}");
        connection.pairs(&sql).map_err(|failure| {
            EngineError::Fatal(format!(
                "table `{MARKER}` of {} is not the one Assay creates ({failure}): drop it, or name \
                 another database in the dsn",
                self.describe()
            ))
        })
    }

    /// Reads the token in the data directory; `None` when it is fresh.
    fn token(&self) -> Result<Option<String>, EngineError> {
        match fs::read_to_string(&self.token_file) {
            Ok(token) => Ok(Some(token)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.file_error(&error)),
        }
    }

    /// Returns a new token, written to the data directory.
    fn new_token(&self) -> Result<String, EngineError> {
        let mut bytes = [0; TOKEN_BYTES];
        let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
        read.map_err(|error| self.file_error(&error))?;
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        fs::write(&self.token_file, &token).map_err(|error| self.file_error(&error))?;
        Ok(token)
    }

    fn file_error(&self, error: &io::Error) -> EngineError {
        EngineError::Fatal(format!("{}: {error}", self.token_file.display()))
    }

    fn foreign_table(&self, name: &str) -> EngineError {
        EngineError::Fatal(format!(
            "table `{name}` of {} was not created by Assay: drop it, or name another database in \
             the dsn",
            self.describe()
        ))
    }

    /// Returns the error of a statement that creates a table, after the note at position 0.
    #[cold]
    fn statement_error<E: ErrorResponse>(
        &self,
        table: &TableSpec,
        index: usize,
        failure: Failure<E>,
    ) -> EngineError {
        match (&table.of, index.checked_sub(1), &failure) {
            (Some(name), Some(index), Failure::Refused(error)) if !error.lacks_right() => {
                let owner = StatementOwner::Table(name.clone());
                Refusal::Statement { owner, index, reason: error.to_string() }.into()
            }
            _ => self.creation_error(failure),
        }
    }

    /// Converts a failure to create or drop a table, with the remedy for missing rights.
    #[cold]
    fn creation_error<E: ErrorResponse>(&self, failure: Failure<E>) -> EngineError {
        match failure {
            Failure::Refused(response) if response.lacks_right() => EngineError::Fatal(format!(
                "{}`{}` may not create tables in {}: {response}: grant it all rights on the \
                 database, or name another user in the dsn",
                E::PREFIX,
                self.config.endpoint.user,
                self.describe()
            )),
            Failure::Refused(_) | Failure::Lost(_) | Failure::Rejected(_) | Failure::Unread(_) => {
                failure.into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_end_a_statement_are_no_tables_of_ours() {
        assert!([KEY_VALUE, MARKER, "pi1"].into_iter().all(is_name));
        assert!(!["x; DROP TABLE y", "a`b", "a\"b", "a b"].into_iter().any(is_name));
    }

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
