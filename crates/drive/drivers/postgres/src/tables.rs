//! The tables of a run: creation, reuse, protection of foreign tables.
//!
//! The table [`MARKER`] names the tables Assay created and the token of their data set, which is
//! also stored in the data directory: a directory opened again finds its rows, while a new run
//! drops the leftovers of an earlier one on a foreign server.

use std::fs;
use std::path::Path;

use engine::{EngineError, OpenSpec};
use model::Endpoint;
use model::sql::{Dialect, Part, Statement};

use crate::config::Config;
use crate::error::{failed, map_fatal, with_context};
use crate::key_value;
use crate::procedure::table_name;
use crate::wire::{Connection, Failure};

/// The marker table.
pub(crate) const MARKER: &str = "assay_tables";
/// File in the data directory that holds the data set's token.
const TOKEN_FILE: &str = "assay-tables";
/// Key of the advisory lock of a run: "assay" in bytes.
const LOCK: i64 = 0x0061_7373_6179;
/// Timeout of that lock: a run that has just ended may still hold it.
const LOCK_TIMEOUT: &str = "3s";

/// A table to create.
struct TableSpec {
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
        Err(Failure::Refused(error_response)) if error_response.is("55P03") => {
            Err(EngineError::Fatal(format!(
                "postgres: another run of Assay uses the database `{}` on {}: wait for it, or name \
             another database",
                endpoint.database, endpoint.address
            )))
        }
        // A system without such locks is not shared.
        Err(Failure::Refused(_)) => Ok(()),
        other => other.map_err(failed),
    }
}

/// Creates the tables of `spec`, or finds them; returns their names.
pub(crate) fn make(
    connection: &mut Connection,
    spec: &OpenSpec,
    config: &Config,
    endpoint: &Endpoint,
) -> Result<Vec<String>, EngineError> {
    let specs = specs(spec, config);
    let known = known(connection, endpoint)?;
    let token_file = spec.dir.join(TOKEN_FILE);
    let token = fs::read_to_string(&token_file).unwrap_or_default();
    // An own server holds only this directory's data.
    let is_of_this_run = |of: &str| !endpoint.is_foreign || of == token;
    let (present, leftover): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|(_, of)| is_of_this_run(of));
    for (name, _) in leftover {
        drop_table(connection, &name)
            .map_err(with_context("dropping leftovers of an earlier run"))?;
    }
    let token = if token.is_empty() { new_token(connection)? } else { token };
    for table in &specs {
        if !present.iter().any(|(name, _)| *name == table.name) {
            reject_foreign_table(connection, &table.name, endpoint)?;
            create(connection, table, &token)
                .map_err(|failure| creation_error(failure, endpoint))?;
        }
    }
    if endpoint.is_foreign {
        write_token(&token_file, &token)?;
    }
    Ok(specs.into_iter().map(|table| table.name).collect())
}

/// Returns the tables of `spec`.
fn specs(spec: &OpenSpec, config: &Config) -> Vec<TableSpec> {
    let Some(setup) = &spec.application else {
        let create = key_value::create(config.is_uncompressed);
        return vec![TableSpec { name: key_value::TABLE.to_owned(), create }];
    };
    let application = &*setup.application;
    let mut specs = Vec::new();
    for (position, table) in (0..).zip(&application.tables) {
        let names = (0..setup.copies(position))
            .filter_map(|number| table_name(application, position, number));
        specs.extend(names.map(|name| {
            let statements = table.create.by(Dialect::Postgres).iter();
            TableSpec {
                create: statements.map(|statement| create_text(statement, &name)).collect(),
                name,
            }
        }));
    }
    specs
}

fn create_text(statement: &Statement, table: &str) -> String {
    let text = statement.parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Table => table,
        Part::Argument(_) | Part::RowArgument(_) | Part::Rows(_) => "",
    });
    text.collect()
}

/// Returns the tables in the marker table, each with the token of its data set.
fn known(
    connection: &mut Connection,
    endpoint: &Endpoint,
) -> Result<Vec<(String, String)>, EngineError> {
    if !is_there(connection, MARKER)? {
        let create = format!("CREATE TABLE {MARKER} (name text PRIMARY KEY, run text NOT NULL)");
        connection.run(&create).map_err(|failure| creation_error(failure, endpoint))?;
        return Ok(Vec::new());
    }
    let rows = connection.table(&format!("SELECT name, run FROM {MARKER}"));
    let rows = rows.map_err(|failure| {
        map_fatal(failed(failure), |text| {
            let database = &endpoint.database;
            format!("table `{MARKER}` of `{database}` is foreign or not readable: {text}")
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

fn reject_foreign_table(
    connection: &mut Connection,
    table: &str,
    endpoint: &Endpoint,
) -> Result<(), EngineError> {
    if !is_there(connection, table)? {
        return Ok(());
    }
    Err(EngineError::Fatal(format!(
        "postgres: database `{}` on {} has a table `{table}` that Assay did not create: name \
         another database, or rename that table",
        endpoint.database, endpoint.address
    )))
}

/// Creates a table and records it in the marker table, in one transaction.
fn create(connection: &mut Connection, table: &TableSpec, token: &str) -> Result<(), Failure> {
    let name = &table.name;
    let note = format!("INSERT INTO {MARKER} (name, run) VALUES ('{name}', '{token}')");
    let statements = table.create.iter().chain([&note]);
    in_transaction(connection, statements.map(String::as_str))
}

fn drop_table(connection: &mut Connection, name: &str) -> Result<(), Failure> {
    let forget = format!("DELETE FROM {MARKER} WHERE name = '{}'", name.replace('\'', "''"));
    in_transaction(connection, [&*format!("DROP TABLE IF EXISTS {name}"), &*forget].into_iter())
}

/// Runs statements as one transaction.
fn in_transaction<'a>(
    connection: &mut Connection,
    mut statements: impl Iterator<Item = &'a str>,
) -> Result<(), Failure> {
    connection.run("BEGIN")?;
    let done = statements.try_for_each(|sql| connection.run(sql));
    let ended = connection.run(if done.is_ok() { "COMMIT" } else { "ROLLBACK" });
    done.and(ended)
}

/// Converts a failure to create a table, with the remedy for missing rights.
#[cold]
fn creation_error(failure: Failure, endpoint: &Endpoint) -> EngineError {
    match failure {
        Failure::Refused(error_response) if error_response.is("42501") => {
            EngineError::Fatal(format!(
                "postgres: `{}` may not create tables in database `{}` on {}: {error_response}; \
                 grant it CREATE on the schema, or log in as another user",
                endpoint.user, endpoint.database, endpoint.address
            ))
        }
        other @ (Failure::Refused(_) | Failure::Lost(_) | Failure::Impossible(_)) => {
            with_context("creating tables")(other)
        }
    }
}

/// Returns a unique token.
fn new_token(connection: &mut Connection) -> Result<String, EngineError> {
    let sql = "SELECT md5(random()::text || clock_timestamp()::text || pg_backend_pid()::text)";
    Ok(connection.value(sql).map_err(failed)?.unwrap_or_default())
}

fn write_token(path: &Path, token: &str) -> Result<(), EngineError> {
    fs::write(path, token)
        .map_err(|error| EngineError::Fatal(format!("{}: {error}", path.display())))
}
