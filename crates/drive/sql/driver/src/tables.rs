//! The tables of a run: creation, reuse, protection of foreign tables.
//!
//! The marker table names the tables and routines Assay created, each with its identity, which
//! nothing has that a user creates under the same name, and the token of their data set, which is
//! also stored in the data directory: a directory opened again finds its rows, while tables of
//! another token are left from an earlier run, and dropped.
//!
//! A mark is written before its table is created, and has the identity in the same transaction
//! (Postgres) or from the first moment, as the statement that creates a table states it (MySQL):
//! wherever a run is killed, its tables are known, and others are not. Only where a statement of
//! MySQL has no place for it, a kill between this statement and the next leaves a table that counts
//! as foreign.

use std::fs;
use std::io;
use std::path::PathBuf;

use engine::{DATA_SET_FILE, EngineError, OpenSpec, Refusal};
use model::Endpoint;
use model::sql::StatementOwner;

use crate::config::Config;
use crate::connection::{Connection, Reply};
use crate::failure::{ErrorResponse, Failure, fatal};
use crate::object::{CatalogEntry, Creation, DataSet, Object, ObjectKind, Reference, TableName};
use crate::obstacle::rights_error;
use crate::random::random;
use crate::table_spec::{TableSpec, routines, specs};

/// The marker table, which is none of a run's own.
pub const MARKER: &str = "assay_tables";
/// Bytes of a token.
const TOKEN_BYTES: usize = 16;

/// Most refusals to drop a leftover that an error quotes. Our choice.
const REFUSALS_SHOWN: usize = 4;

/// A row of the marker table.
struct Mark {
    object: Object,
    token: String,
    identity: String,
}

impl Mark {
    /// Returns whether what has the object's name is what the mark was written for.
    fn is_of(&self, found: &CatalogEntry) -> bool {
        found.identity.as_ref() == Some(&self.identity)
    }
}

/// Creates the tables of `spec`, or finds those of this data set again; returns their names.
/// Fails when something foreign has the name of a table or a routine, or the user lacks rights.
///
/// A process that joins those of a run finds the tables; it creates, drops and marks nothing.
pub(crate) fn ensure<C: Connection>(
    connection: &mut C,
    spec: &OpenSpec,
    config: &mut Config<C::Session>,
    is_joining: bool,
) -> Result<Vec<TableName>, EngineError> {
    let schema = connection.pin_schema(&mut config.session)?;
    let target = Target::new::<C>(&config.endpoint, schema, spec)?;
    let tables = specs::<C>(spec, &config.session);
    let mut objects: Vec<_> = tables.iter().map(|table| Object::table(&table.name)).collect();
    objects.extend(routines::<C>(spec, &tables));
    let marks = target.marks(connection, is_joining)?;
    let token = target.token()?;
    let is_present = |mark: &Mark| token.as_ref() == Some(&mark.token);
    let mut is_complete = true;
    for object in &objects {
        let mark = marks.iter().find(|mark| mark.object == *object);
        match (connection.find(&target.schema, object)?, mark) {
            (Some(found), Some(mark)) if mark.is_of(&found) && is_present(mark) => {}
            (Some(found), mark) if !mark.is_some_and(|mark| mark.is_of(&found)) => {
                return Err(target.foreign(&object.name, &found, mark.is_some()));
            }
            // A routine is created by a step.
            _ => is_complete &= object.kind != ObjectKind::Table,
        }
    }
    if is_joining && !is_complete {
        return Err(target.not_set_up());
    }
    let is_left = |mark: &&Mark| is_complete && is_present(mark);
    // Last created first, where the server gives them in order: a table may refer to earlier ones.
    let leftovers = marks.iter().rev().filter(|mark| !is_joining && !is_left(mark)).collect();
    target.remove_all(connection, leftovers)?;
    let left: Vec<_> = marks.iter().filter(is_left).map(|mark| &mark.object).collect();
    let token = match token {
        Some(token) => token,
        None => target.new_token()?,
    };
    let data_set = DataSet { schema: target.schema.clone(), token };
    let is_new = |it: &&Object| !is_joining && it.kind != ObjectKind::Table && !left.contains(it);
    for routine in objects.iter().filter(is_new) {
        let marked = target.mark(connection, routine, &data_set);
        marked.map_err(|failure| rights_error(target.endpoint, failure))?;
    }
    if !is_complete {
        target.check_unreferenced(&tables, &connection.references()?)?;
    }
    for table in tables.iter().filter(|_| !is_complete) {
        target.create(connection, table, &data_set)?;
    }
    let schema = &data_set.schema;
    let names = tables.into_iter().map(|TableSpec { name, .. }| {
        let qualified = C::qualified(schema, &name);
        TableName { name, qualified }
    });
    let names = names.collect();
    config.data_set = data_set;
    Ok(names)
}

/// Returns a statement that also gives what it creates the identity in its mark; `None` where it
/// stays as it is.
pub(crate) fn identified<C: Connection>(sql: &str, data_set: &DataSet) -> Option<String> {
    C::identified(&Creation::parse(sql, C::SQL.dialect)?, data_set)
}

/// Where tables are created: server, schema and token file.
struct Target<'a> {
    endpoint: &'a Endpoint,
    schema: String,
    /// The marker table with its schema, quoted.
    marker: String,
    token_file: PathBuf,
}

impl<'a> Target<'a> {
    fn new<C: Connection>(
        endpoint: &'a Endpoint,
        schema: Option<String>,
        spec: &OpenSpec,
    ) -> Result<Self, EngineError> {
        let Some(schema) = schema else {
            return Err(EngineError::Fatal(format!(
                "database `{}` at {} has no schema in which `{}` could create tables: create a \
                 schema in the search_path of the user, or name another database in the dsn",
                endpoint.database, endpoint.address, endpoint.user
            )));
        };
        let marker = C::qualified(&schema, MARKER);
        Ok(Self { endpoint, schema, marker, token_file: spec.dir.join(DATA_SET_FILE) })
    }

    fn describe(&self) -> String {
        format!("database `{}` at {}", self.endpoint.database, self.endpoint.address)
    }

    /// Returns the database, and the schema where it has several.
    fn describe_schema(&self) -> String {
        match self.schema == self.endpoint.database {
            true => self.describe(),
            false => format!("schema `{}` of {}", self.schema, self.describe()),
        }
    }

    /// Returns the rows of the marker table; creates it where there is none and nothing is joined.
    fn marks<C: Connection>(
        &self,
        connection: &mut C,
        is_joining: bool,
    ) -> Result<Vec<Mark>, EngineError> {
        let marker = &self.marker;
        match connection.find(&self.schema, &Object::table(MARKER))? {
            Some(found) if found.kind != ObjectKind::Table.name() => {
                return Err(self.foreign(MARKER, &found, false));
            }
            Some(_) => self.check_marker(connection)?,
            None if is_joining => return Ok(Vec::new()),
            None => {
                let kind = C::SQL.name_type;
                let create = format!(
                    "CREATE TABLE {marker} (name {kind} NOT NULL PRIMARY KEY, token {kind} NOT \
                     NULL, identity {kind} NOT NULL)"
                );
                connection.run(&create).map_err(|failure| rights_error(self.endpoint, failure))?;
                return Ok(Vec::new());
            }
        }
        match connection.rows(&format!("SELECT name, token, identity FROM {marker}")) {
            Err(Failure::Refused(response))
                if !(response.is_loss() || response.is_lock_wait() || response.lacks_right()) =>
            {
                Err(EngineError::Fatal(format!(
                    "an earlier version of Assay created table `{MARKER}` of {} ({response}): \
                     drop `{MARKER}` and the tables in its list that are not needed, or name \
                     another database in the dsn",
                    self.describe()
                )))
            }
            rows => {
                let rows = rows.map_err(|failure| rights_error(self.endpoint, failure))?;
                rows.into_iter().map(Self::parse_mark).collect()
            }
        }
    }

    /// Checks that the marker is the login's alone: a run drops what it names.
    fn check_marker<C: Connection>(&self, connection: &mut C) -> Result<(), EngineError> {
        let Some(fault) = connection.shared(&self.schema, MARKER)? else { return Ok(()) };
        let (place, user) = (self.describe_schema(), &self.endpoint.user);
        Err(EngineError::Fatal(format!(
            "table `{MARKER}` in {place} {fault}: a run drops the tables that `{MARKER}` lists, \
             so only `{user}` may own and write `{MARKER}`: drop `{MARKER}`, or name another \
             database in the dsn"
        )))
    }

    /// Parses a row of the marker table.
    ///
    /// In MySQL every user with rights to the database can have written it.
    fn parse_mark(row: Vec<String>) -> Result<Mark, EngineError> {
        let [name, token, identity] = <[String; 3]>::try_from(row).unwrap_or_default();
        let object = Object::of_mark(&name).ok_or_else(|| {
            let reason = format!(
                "{MARKER} names `{name}`, which is not a table of Assay: remove the row of \
                 `{name}`"
            );
            EngineError::Fatal(reason)
        })?;
        Ok(Mark { object, token, identity })
    }

    /// Writes the mark of an object that is about to be created.
    fn mark<C: Connection>(
        &self,
        connection: &mut C,
        object: &Object,
        DataSet { token, .. }: &DataSet,
    ) -> Reply<(), C> {
        let (marker, name) = (&self.marker, object.mark());
        connection.run(&format!(
            "INSERT INTO {marker} (name, token, identity) VALUES ('{name}', '{token}', '{token}')"
        ))
    }

    /// Drops what marks were written for; what other leftovers refer to is dropped after them.
    ///
    /// The marks may be of another application, whose order of creation is unknown. What a user
    /// created is not dropped, and keeps what it refers to.
    fn remove_all<C: Connection>(
        &self,
        connection: &mut C,
        mut marks: Vec<&Mark>,
    ) -> Result<(), EngineError> {
        loop {
            let (mut referenced, mut refusals) = (Vec::new(), Vec::new());
            for mark in &marks {
                match self.remove(connection, mark) {
                    Err(Failure::Refused(response)) if response.is_reference() => {
                        referenced.push(*mark);
                        refusals.push(response);
                    }
                    removed => removed.map_err(|failure| rights_error(self.endpoint, failure))?,
                }
            }
            if referenced.is_empty() {
                return Ok(());
            }
            if referenced.len() == marks.len() {
                return Err(self.referenced(&referenced, &refusals, &connection.references()?));
            }
            marks = referenced;
        }
    }

    /// Drops what a mark was written for, if it is still that, and removes the mark.
    fn remove<C: Connection>(&self, connection: &mut C, mark: &Mark) -> Reply<(), C> {
        let found = connection.find(&self.schema, &mark.object)?;
        if let Some(found) = found.filter(|found| mark.is_of(found)) {
            connection.run(&found.drop)?;
        }
        let (marker, name) = (&self.marker, mark.object.mark());
        connection.run(&format!("DELETE FROM {marker} WHERE name = '{name}'"))
    }

    /// Checks that no foreign key refers to a table before it exists: rows of a user would then
    /// refer to those of a run.
    ///
    /// A server that did not check foreign keys lets them outlive the table.
    fn check_unreferenced(
        &self,
        tables: &[TableSpec],
        references: &[Reference],
    ) -> Result<(), EngineError> {
        let is_of_run = |it: &&Reference| tables.iter().any(|table| table.name == it.to);
        let Some(Reference { table, to }) = references.iter().find(is_of_run) else {
            return Ok(());
        };
        Err(EngineError::Fatal(format!(
            "table `{table}` has a foreign key to a table `{to}` in {}, which a run would create: \
             drop the foreign key, or name another database in the dsn",
            self.describe_schema()
        )))
    }

    /// Creates a table in one transaction; MySQL commits it before each statement that creates.
    fn create<C: Connection>(
        &self,
        connection: &mut C,
        table: &TableSpec,
        data_set: &DataSet,
    ) -> Result<(), EngineError> {
        if let Some(sequence) = &table.sequence
            && let Some(found) = connection.find(&self.schema, &Object::table(sequence))?
        {
            return Err(self.foreign(sequence, &found, false));
        }
        let failed = |failure: Failure<C::Error>| rights_error(self.endpoint, failure);
        connection.run(C::SQL.begin).map_err(failed)?;
        self.mark(connection, &Object::table(&table.name), data_set).map_err(failed)?;
        for (index, sql) in table.create.iter().enumerate() {
            let identified = identified::<C>(sql, data_set);
            let done = connection.run(identified.as_ref().unwrap_or(sql));
            done.map_err(|failure| self.statement_error(table, index, failure))?;
        }
        if !connection.identify(data_set, &table.name).map_err(failed)? {
            return Err(EngineError::Fatal(format!(
                "the statements of table `{name}` create no table `{name}` in {}: write \
                 {{table}} in place of the table's name",
                self.describe(),
                name = table.name
            )));
        }
        connection.run("COMMIT").map_err(failed)
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
        let bytes: [u8; TOKEN_BYTES] = random().map_err(|error| self.file_error(&error))?;
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        fs::write(&self.token_file, &token).map_err(|error| self.file_error(&error))?;
        Ok(token)
    }

    fn file_error(&self, error: &io::Error) -> EngineError {
        EngineError::Fatal(format!("{}: {error}", self.token_file.display()))
    }

    /// Returns the error of a process that joins a run without tables.
    #[cold]
    fn not_set_up(&self) -> EngineError {
        EngineError::Fatal(format!(
            "the first process of this run has not set up the tables in {}: another run has \
             dropped them, or the database is another one: give the run a database of its own",
            self.describe_schema()
        ))
    }

    /// Returns the error of what has the name of an object, and was not created by a run.
    #[cold]
    fn foreign(&self, name: &str, found: &CatalogEntry, has_mark: bool) -> EngineError {
        let (kind, place) = (&found.kind, self.describe_schema());
        let why = if has_mark {
            "has been changed, or dropped and created anew, since Assay created it"
        } else {
            "was not created by Assay"
        };
        EngineError::Fatal(format!(
            "{kind} `{name}` in {place} {why}: drop it or rename it, or name another database in \
             the dsn"
        ))
    }

    /// Returns the error of leftovers that something else refers to, with the server's reasons.
    #[cold]
    fn referenced<E: ErrorResponse>(
        &self,
        marks: &[&Mark],
        refusals: &[E],
        references: &[Reference],
    ) -> EngineError {
        let place = self.describe_schema();
        let each = marks.iter().zip(refusals).take(REFUSALS_SHOWN);
        let each = each.map(|(mark, refusal)| {
            let Object { kind, name } = &mark.object;
            let to = references.iter().filter(|it| it.to == *name);
            let from: String =
                to.map(|it| format!("; table `{}` refers to it", it.table)).collect();
            format!("{} `{name}`: {refusal}{from}", kind.name())
        });
        fatal::<E>(format!(
            "tables of an earlier run in {place} cannot be dropped: {}: drop the objects that \
             refer to them, or name another database in the dsn",
            each.collect::<Vec<_>>().join("; ")
        ))
    }

    /// Returns the error of a statement that creates a table.
    #[cold]
    fn statement_error<E: ErrorResponse>(
        &self,
        table: &TableSpec,
        index: usize,
        failure: Failure<E>,
    ) -> EngineError {
        match (&table.of, &failure) {
            (Some(name), Failure::Refused(error))
                if !error.lacks_right() && !error.is_lock_wait() =>
            {
                let owner = StatementOwner::Table(name.clone());
                Refusal::Statement { owner, index, reason: error.to_string() }.into()
            }
            _ => rights_error(self.endpoint, failure),
        }
    }
}
