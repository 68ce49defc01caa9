//! A connection to a server, and the SQL in which servers differ.

use std::time::Duration;

use model::Endpoint;
use model::sql::Dialect;

use crate::failure::{ErrorResponse, Failure};
use crate::object::{CatalogEntry, Creation, DataSet, Object, Reference};
use crate::row_texts::RowTexts;
use crate::socket::Contact;
use crate::template::{Field, Template, Value};

/// The result of an exchange on a connection `C`.
pub type Reply<T, C> = Result<T, Failure<<C as Connection>::Error>>;

/// SQL and limits of one kind of server.
#[derive(Debug, Clone, Copy)]
pub struct Sql {
    /// The dialect of applications.
    pub dialect: Dialect,
    /// Quote of a column's name; may be empty.
    pub quote: &'static str,
    /// Column type of a table's name, compared by bytes: `MyRocks` indexes no other text.
    pub name_type: &'static str,
    /// Inserts or replaces a key (`?`) and its value (`?`).
    pub put: &'static str,
    /// Replaces bytes (`?2`, of length `?3`) of the value of a key (`?0`) from `?1` on, counting
    /// from 1, where the value has at least `?4` bytes.
    pub partial_update: &'static str,
    /// Appends bytes (`?2`) to the value of a key (`?0`) where it has at most `?4` bytes.
    pub append: &'static str,
    /// Longest key and value, bytes, checked before a row is written.
    pub row_bytes_max: (usize, usize),
    /// Whether several keys are one array: `= ANY(?)`.
    pub has_arrays: bool,
    /// Most keys of one statement; larger requests are split.
    pub keys_max: usize,
    /// Begins a transaction.
    pub begin: &'static str,
    /// Whether the begin and the commit of a transaction are prepared.
    pub is_begin_prepared: bool,
    /// Begin a transaction whose reads are of one snapshot, however long it lasts.
    pub hold: &'static [&'static str],
    /// Returns the number of the session that executes it.
    pub session_number: &'static str,
    /// Leaves a mark in the session.
    pub mark_session: &'static str,
    /// Returns 1 in a session that has the mark.
    pub is_session_marked: &'static str,
    /// Returns 0 where another session holds the lock of the run.
    pub holds_lock: &'static str,
    /// Begins the query of how many sessions, whose numbers follow, execute a statement.
    pub busy: &'static str,
}

/// A logged-in connection to a server.
///
/// Requests are written to a buffer, sent together, and answered in order. A method fails when the
/// server refuses the statement, or the connection is lost.
#[expect(clippy::missing_errors_doc, reason = "stated by the trait")]
pub trait Connection: Send + Sized {
    /// Configuration of a session.
    type Session: Clone + Send + Sync;
    /// An error response.
    type Error: ErrorResponse;
    /// A statement prepared on the connection.
    type Prepared;
    /// What is known of the columns of a row.
    type Column: Copy;

    /// SQL and limits of the server.
    const SQL: Sql;
    /// Whether a prepared statement can end after a number of rows: [`Template::rows_at`].
    const HAS_ROW_LIMITS: bool;

    /// Connects and logs in.
    fn open(endpoint: &Endpoint, session: &Self::Session, contact: Contact) -> Reply<Self, Self>;

    /// Returns how the server's certificate was accepted, where that is not by its names.
    fn certificate_note(&self) -> Option<&'static str>;

    /// Returns the server's number of the connection; `None` when it gave none.
    fn number(&self) -> Option<u64>;

    /// Replaces the number, where a pooler has answered the login with one of its own.
    fn set_number(&mut self, number: u64);

    /// Limits the time of each answer, without a statement; afterwards the connection is lost.
    fn limit_wait(&mut self, limit: Option<Duration>) -> Reply<(), Self>;

    /// Limits the time of each statement; afterwards the connection may be lost.
    fn limit_time(&mut self, limit: Duration) -> Reply<(), Self>;

    /// Limits the wait of each statement for a lock; nothing on a server without such a limit.
    fn limit_lock_waits(&mut self, limit: Duration) -> Reply<(), Self>;

    /// Returns the queries of what the connections of these numbers wait for, the best first.
    ///
    /// A row has the waiting statement, and the session that holds the lock in words.
    fn lock_queries(numbers: &[u64]) -> Vec<String>;

    /// Ends what a lost connection of that number left running; nothing where the server does.
    fn end(&mut self, _number: u64) -> Reply<(), Self> {
        Ok(())
    }

    /// Prepares a statement; `None` when the server takes it as text only.
    fn prepare<'v>(
        &mut self,
        template: &Template,
        value: impl Fn(usize) -> Value<'v>,
    ) -> Reply<Option<Self::Prepared>, Self>;

    /// Appends a prepared statement to the request buffer; returns the bytes of its values.
    ///
    /// When a value does not fit, nothing is appended.
    fn write<'v>(
        &mut self,
        prepared: &mut Self::Prepared,
        value: impl Fn(usize) -> Value<'v> + Copy,
    ) -> Reply<u64, Self>;

    /// Appends a statement as text to the request buffer; returns the bytes of its values.
    fn write_text<'v>(
        &mut self,
        template: &Template,
        value: impl Fn(usize) -> Value<'v> + Copy,
    ) -> Reply<u64, Self>;

    /// Completes the request written last as one of several.
    #[inline]
    fn enqueue(&mut self) -> Reply<(), Self> {
        Ok(())
    }

    /// Sends the request written last and reads its answer; returns the affected rows.
    ///
    /// The statement was sent as text without `prepared`.
    fn exchange(
        &mut self,
        prepared: Option<&Self::Prepared>,
        on_row: impl FnMut(Self::Column, &[u8]),
    ) -> Reply<u64, Self>;

    /// Sends queued requests and reads the answer to the oldest; returns the affected rows.
    fn answer(
        &mut self,
        is_text: bool,
        on_row: impl FnMut(Self::Column, &[u8]),
    ) -> Reply<u64, Self>;

    /// Returns whether an answer, or part of it, has been received.
    fn has_answer(&self) -> bool;

    /// Returns whether a transaction is open after a failure; `is_begun` when it was begun.
    fn is_in_transaction(&self, is_begun: bool) -> bool;

    /// Returns the first two columns of a row of bytes; text is decoded into `scratch`.
    ///
    /// A row of one column has an empty second.
    fn columns<'r>(
        column: Self::Column,
        row: &'r [u8],
        scratch: &'r mut Vec<u8>,
    ) -> (&'r [u8], &'r [u8]);

    /// Iterates over the columns of a row of the last exchange, a statement of rows to be read.
    fn fields<'r>(&'r self, is_prepared: bool, row: &'r [u8]) -> impl Iterator<Item = Field<'r>>;

    /// Iterates over the columns of a text row; `None` is null.
    fn texts(row: &[u8]) -> impl Iterator<Item = Option<&[u8]>>;

    /// Locks the database for a run; `false` when another run has it.
    fn lock(&mut self) -> Reply<bool, Self>;

    /// Fixes the schemas in which this connection, and later ones of `session`, find names.
    ///
    /// Returns the one in which tables are created; `None` when there is none.
    fn pin_schema(&mut self, session: &mut Self::Session) -> Reply<Option<String>, Self>;

    /// Returns schema and name of a table, both quoted.
    fn qualified(schema: &str, table: &str) -> String;

    /// Finds what has the name of an object in a schema, whatever its kind.
    fn find(&mut self, schema: &str, object: &Object) -> Reply<Option<CatalogEntry>, Self>;

    /// Returns the foreign keys of tables to tables of the database in which a run creates its own.
    fn references(&mut self) -> Reply<Vec<Reference>, Self> {
        Ok(Vec::new())
    }

    /// Returns why accounts other than the login can write a table, or have code executed by it.
    fn shared(&mut self, _schema: &str, _table: &str) -> Reply<Option<String>, Self> {
        Ok(None)
    }

    /// Returns a statement that also gives what it creates the identity in its mark.
    ///
    /// `None` where the statement stays as it is.
    fn identified(creation: &Creation<'_>, data_set: &DataSet) -> Option<String>;

    /// Gives a table that was just created the identity in its mark; `false` without such a table.
    fn identify(&mut self, data_set: &DataSet, table: &str) -> Reply<bool, Self>;

    /// Returns the statements that create the table of keys and values.
    fn create_key_value(session: &Self::Session) -> Vec<String>;

    /// Runs a statement as text; returns the affected rows.
    fn query(&mut self, sql: &str, on_row: impl FnMut(Self::Column, &[u8])) -> Reply<u64, Self>;

    /// Runs a statement, ignoring its rows.
    fn run(&mut self, sql: &str) -> Reply<(), Self> {
        self.query(sql, |_, _| {}).map(drop)
    }

    /// Exchanges an empty query with the server.
    fn ping(&mut self) -> Reply<(), Self> {
        self.run("")
    }

    /// Returns all rows of a statement as text; null becomes empty.
    fn rows(&mut self, sql: &str) -> Reply<Vec<Vec<String>>, Self> {
        let mut rows = RowTexts::default();
        self.query(sql, |_, row| rows.add(Self::texts(row)))?;
        rows.all()
    }

    /// Returns the rows of a statement of two columns; others are left out.
    fn pairs(&mut self, sql: &str) -> Reply<Vec<(String, String)>, Self> {
        let pair = |row: Vec<String>| <[String; 2]>::try_from(row).ok().map(Into::into);
        Ok(self.rows(sql)?.into_iter().filter_map(pair).collect())
    }

    /// Returns the number of the session that executes a statement; `None` where it has none.
    fn session_number(&mut self) -> Reply<Option<u64>, Self> {
        match self.first(Self::SQL.session_number) {
            Err(Failure::Refused(response)) if !response.is_loss() => Ok(None),
            number => Ok(number?.and_then(|number| number.parse().ok())),
        }
    }

    /// Returns the first column of the first row; `None` when null or absent.
    fn first(&mut self, sql: &str) -> Reply<Option<String>, Self> {
        let mut first = None;
        self.query(sql, |_, row| {
            let text = Self::texts(row).next().flatten();
            first = first.take().or_else(|| text.map(|t| String::from_utf8_lossy(t).into_owned()));
        })?;
        Ok(first)
    }
}
