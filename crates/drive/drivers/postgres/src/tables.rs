//! Our tables in the database: made, found again, and never mistaken for somebody else's.
//!
//! The table [`MARKER`] names those that are ours and the data set they belong to. A data set's
//! number is also kept in the data directory, so a directory opened again finds its rows, while
//! a new run drops what an earlier one has left on a foreign server.

use std::fs;
use std::path::Path;

use engine::{EngineError, OpenSpec};
use model::Endpoint;
use model::sql::{Dialect, Part, Statement};

use crate::config::Config;
use crate::error::{failed, failed_to, in_words};
use crate::key_value;
use crate::procedure::table_name;
use crate::wire::{Connection, Failure};

/// Name of the table that names our tables.
pub(crate) const MARKER: &str = "assay_tables";
/// File in the data directory that holds the number of the data set.
const NUMBER_FILE: &str = "assay-tables";
/// Number of the lock that a run holds on its database: "assay" in bytes.
const LOCK: i64 = 0x0061_7373_6179;
/// Longest wait for a run that has just ended to give its lock back.
const LOCK_TIMEOUT: &str = "3s";

/// A table that is asked for.
struct Wanted {
    name: String,
    create: Vec<String>,
}

/// Locks the database for this run: two at once would drop each other's tables.
pub(crate) fn lock(connection: &mut Connection, endpoint: &Endpoint) -> Result<(), EngineError> {
    let locked = connection
        .run(&format!("SET lock_timeout = '{LOCK_TIMEOUT}'"))
        .and_then(|()| connection.run(&format!("SELECT pg_advisory_lock({LOCK})")))
        .and_then(|()| connection.run("RESET lock_timeout"));
    match locked {
        Err(Failure::Told(complaint)) if complaint.is("55P03") => Err(EngineError::Fatal(format!(
            "postgres: another run of Assay uses the database `{}` on {}: wait for it, or name \
             another database",
            endpoint.database, endpoint.address
        ))),
        // Whoever lacks such locks has none to wait for.
        Err(Failure::Told(_)) => Ok(()),
        other => other.map_err(failed),
    }
}

/// Makes the tables that `spec` asks for, or finds them; returns their names.
pub(crate) fn make(
    connection: &mut Connection,
    spec: &OpenSpec,
    config: &Config,
    endpoint: &Endpoint,
) -> Result<Vec<String>, EngineError> {
    let wanted = wanted(spec, config);
    let known = known(connection, endpoint)?;
    let number_file = spec.dir.join(NUMBER_FILE);
    let number = fs::read_to_string(&number_file).unwrap_or_default();
    // A server of our own holds nothing but this directory's data.
    let is_kept = |of: &str| !endpoint.is_foreign || of == number;
    let (kept, left): (Vec<_>, Vec<_>) = known.into_iter().partition(|(_, of)| is_kept(of));
    for (name, _) in left {
        drop_table(connection, &name)
            .map_err(failed_to("dropping what an earlier run has left"))?;
    }
    let number = if number.is_empty() { new_number(connection)? } else { number };
    for table in &wanted {
        if !kept.iter().any(|(name, _)| *name == table.name) {
            refuse_strangers(connection, &table.name, endpoint)?;
            create(connection, table, &number).map_err(|failure| denied(failure, endpoint))?;
        }
    }
    if endpoint.is_foreign {
        write_number(&number_file, &number)?;
    }
    Ok(wanted.into_iter().map(|table| table.name).collect())
}

/// Returns the tables that are asked for.
fn wanted(spec: &OpenSpec, config: &Config) -> Vec<Wanted> {
    let Some(asked) = &spec.application else {
        let create = key_value::create(config.is_uncompressed);
        return vec![Wanted { name: key_value::TABLE.to_owned(), create }];
    };
    let application = &*asked.application;
    let mut wanted = Vec::new();
    for (position, table) in (0..).zip(&application.tables) {
        let names = (0..asked.copies(position))
            .filter_map(|number| table_name(application, position, number));
        wanted.extend(names.map(|name| {
            let statements = table.create.by(Dialect::Postgres).iter();
            Wanted { create: statements.map(|said| create_text(said, &name)).collect(), name }
        }));
    }
    wanted
}

fn create_text(statement: &Statement, table: &str) -> String {
    let words = statement.parts.iter().map(|part| match part {
        Part::Text(words) => words.as_str(),
        Part::Table => table,
        Part::Argument(_) | Part::RowArgument(_) | Part::Rows(_) => "",
    });
    words.collect()
}

/// Returns our tables that are there, each with the number of its data set.
fn known(
    connection: &mut Connection,
    endpoint: &Endpoint,
) -> Result<Vec<(String, String)>, EngineError> {
    if !is_there(connection, MARKER)? {
        let create = format!("CREATE TABLE {MARKER} (name text PRIMARY KEY, run text NOT NULL)");
        connection.run(&create).map_err(|failure| denied(failure, endpoint))?;
        return Ok(Vec::new());
    }
    let rows = connection.table(&format!("SELECT name, run FROM {MARKER}"));
    let rows = rows.map_err(|failure| {
        in_words(failed(failure), |words| {
            let database = &endpoint.database;
            format!("the table `{MARKER}` of `{database}` is not ours or not readable: {words}")
        })
    })?;
    let pair = |row: Vec<String>| {
        let mut columns = row.into_iter();
        Some((columns.next()?, columns.next()?))
    };
    Ok(rows.into_iter().filter_map(pair).collect())
}

fn is_there(connection: &mut Connection, table: &str) -> Result<bool, EngineError> {
    let found = connection.value(&format!("SELECT to_regclass('{table}')")).map_err(failed)?;
    Ok(found.is_some())
}

fn refuse_strangers(
    connection: &mut Connection,
    table: &str,
    endpoint: &Endpoint,
) -> Result<(), EngineError> {
    if !is_there(connection, table)? {
        return Ok(());
    }
    Err(EngineError::Fatal(format!(
        "postgres: database `{}` on {} has a table `{table}` that Assay did not make: name another \
         database, or rename that table",
        endpoint.database, endpoint.address
    )))
}

/// Makes a table and notes that it is ours, both or neither.
fn create(connection: &mut Connection, table: &Wanted, number: &str) -> Result<(), Failure> {
    let name = &table.name;
    let note = format!("INSERT INTO {MARKER} (name, run) VALUES ('{name}', '{number}')");
    let statements = table.create.iter().chain([&note]);
    together(connection, statements.map(String::as_str))
}

fn drop_table(connection: &mut Connection, name: &str) -> Result<(), Failure> {
    let forget = format!("DELETE FROM {MARKER} WHERE name = '{}'", name.replace('\'', "''"));
    together(connection, [&*format!("DROP TABLE IF EXISTS {name}"), &*forget].into_iter())
}

/// Runs statements as one transaction.
fn together<'a>(
    connection: &mut Connection,
    mut statements: impl Iterator<Item = &'a str>,
) -> Result<(), Failure> {
    connection.run("BEGIN")?;
    let done = statements.try_for_each(|sql| connection.run(sql));
    let ended = connection.run(if done.is_ok() { "COMMIT" } else { "ROLLBACK" });
    done.and(ended)
}

/// Returns a failure to make a table, with the remedy when it is for lack of rights.
#[cold]
fn denied(failure: Failure, endpoint: &Endpoint) -> EngineError {
    match failure {
        Failure::Told(complaint) if complaint.is("42501") => EngineError::Fatal(format!(
            "postgres: `{}` may not make tables in database `{}` on {}: {complaint}; grant it \
             CREATE on the schema, or log in as somebody who may",
            endpoint.user, endpoint.database, endpoint.address
        )),
        other @ (Failure::Told(_) | Failure::Lost(_) | Failure::Impossible(_)) => {
            failed_to("making tables")(other)
        }
    }
}

/// Returns a number that no other data set has.
fn new_number(connection: &mut Connection) -> Result<String, EngineError> {
    let sql = "SELECT md5(random()::text || clock_timestamp()::text || pg_backend_pid()::text)";
    Ok(connection.value(sql).map_err(failed)?.unwrap_or_default())
}

fn write_number(path: &Path, number: &str) -> Result<(), EngineError> {
    fs::write(path, number)
        .map_err(|error| EngineError::Fatal(format!("{}: {error}", path.display())))
}
